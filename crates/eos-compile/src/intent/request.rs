//! What goes into an intent and what comes out of it.

use std::collections::{BTreeMap, BTreeSet};

use eos_catalog::{Component, SettingType};
use eos_model::{HostName, Name, SecretRef};
use indexmap::IndexMap;
use serde_json::Value as Json;

/// `eos create` or `eos update`, as typed.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub kind: String,
    pub name: String,
    /// Settings by name, values as the schema reads them. Secrets are in `secrets`.
    pub settings: IndexMap<String, Json>,
    /// Settings that were given a value that does not fit. The caller tells of it, together with what else is found: they are
    /// neither looked at nor missed.
    pub wrong: BTreeSet<String>,
    /// Settings, and numbers of `common`, that go back to their defaults; soft needs that are given up.
    pub unset: BTreeSet<String>,
    /// Secret settings that were given a value.
    pub secrets: BTreeSet<String>,
    /// Secrets the estate has a file of, so that one made again finds its old ones.
    pub kept: Vec<SecretRef>,
    /// Nothing of it was ever applied, so that what is fixed later can still be changed.
    pub never_applied: bool,
    pub features: BTreeSet<String>,
    /// Features to turn off again.
    pub without: BTreeSet<String>,
    /// Need → the name that shall meet it.
    pub needs: BTreeMap<String, String>,
    /// host, runtime, version, tier, binary as texts; cpu, memory, replicas as numbers.
    pub common: IndexMap<String, Json>,
}

impl Request {
    /// Whether it asks for something that is refused once it is applied: what is fixed, what lies under data, a secret, who
    /// provides a need. Finding out whether it was may mean asking a server, so it is asked only then.
    pub fn meets_what_stays(&self, component: &Component) -> bool {
        let stays = |name: &String| {
            let setting = component.settings.get(name);
            setting.is_some_and(|setting| setting.fixed || setting.kind == SettingType::Size)
        };
        self.settings.keys().chain(&self.unset).any(stays)
            || !self.needs.is_empty()
            || !self.secrets.is_empty()
            || ["host", "runtime", "version"].iter().any(|key| self.common.contains_key(*key))
    }
}

/// `eos create host`.
#[derive(Debug, Clone)]
pub struct HostRequest {
    pub name: HostName,
    pub address: String,
    pub connection: String,
    pub nomad_node: String,
    pub volume_group: Option<String>,
    pub data_folder: Option<String>,
}

/// `eos resize lvm …` and the like.
#[derive(Debug, Clone)]
pub struct OperationRequest {
    pub kind: String,
    pub verb: String,
    pub host: Option<String>,
    pub args: IndexMap<String, Json>,
    /// Seconds since 1970, UTC.
    pub time: i64,
    /// Who says it.
    pub by: String,
}

/// What has to be written.
#[derive(Debug, Clone, Default)]
pub struct Planned {
    pub entries: Vec<PlannedEntry>,
    pub secrets: Vec<SecretToMake>,
    /// Sentences about choices, for the person.
    pub notes: Vec<String>,
}

/// An entry of the pillar as it shall be.
#[derive(Debug, Clone)]
pub struct PlannedEntry {
    pub name: Name,
    pub kind: String,
    pub entry: Json,
    /// False when it was there before.
    pub is_new: bool,
    /// Why it is there, when nobody asked for it by name.
    pub because: Option<String>,
}

/// A secret that must exist for the entries to work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretToMake {
    pub reference: SecretRef,
    pub source: SecretSource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretSource {
    /// Random, of this length.
    Generate(u16),
    /// The person gave it with the command.
    Given,
    /// It is there from before: whoever is made again under the same name finds the data it opens.
    Kept,
}
