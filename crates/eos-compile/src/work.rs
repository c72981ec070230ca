//! What the passes work on: the input, the units as they take shape, and the files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eos_catalog::component::Task;
use eos_catalog::{Catalog, Component};
use eos_model::{Diagnostic, Diagnostics, Name, SecretRef, UnitId, ask_each};
use eos_pillar::estate_file::{Backend, Tier};
use eos_pillar::{ComponentEntry, Environment, HostEntry};
use eos_yaml::Node;
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::claims::Claims;
use crate::intent::{component_path, ours};
use crate::operation_note::OperationNote;
use crate::origin::Origin;
use crate::traced::Traced;

/// Everything a compilation depends on.
pub struct Input<'a> {
    pub estate: &'a str,
    /// Tells it apart from others of its name.
    pub estate_id: Option<&'a str>,
    /// What its states are kept under at a shared backend.
    pub state_key: &'a str,
    pub backend: &'a Backend,
    pub tier: Tier,
    /// Where its jobs are in Nomad; none where Nomad puts them by itself.
    pub namespace: Option<&'a str>,
    pub environment: &'a Environment,
    pub catalog: &'a Catalog,
    /// What the other environments have taken, for those who choose and check.
    pub others: &'a [Claims],
    /// The secrets that there is a file of; nothing where nobody looked.
    pub secrets: Option<&'a BTreeSet<SecretRef>>,
}

impl<'a> Input<'a> {
    /// The same among other environments.
    pub fn among(self, others: &'a [Claims]) -> Input<'a> {
        Input { others, ..self }
    }
}

/// The state of a compilation.
pub struct Work<'a> {
    pub input: &'a Input<'a>,
    pub found: Diagnostics,
    pub units: BTreeMap<Name, Unit<'a>>,
    /// Units of which something is wrong or missing: what follows from that is not told as well.
    pub unsound: BTreeSet<Name>,
    /// Units, first to be applied first.
    pub order: Vec<Name>,
    pub files: crate::Files,
    pub operations: BTreeMap<String, OperationNote>,
}

/// One root module in the making.
pub struct Unit<'a> {
    pub id: UnitId,
    pub entry: &'a ComponentEntry,
    /// The component with the overlays of its runtime and features.
    pub component: Arc<Component>,
    pub features: BTreeSet<String>,
    /// Settings with their values: given ones and defaults.
    pub settings: IndexMap<String, SettingValue>,
    /// Need → who meets it; a need with `each` has several.
    pub needs: IndexMap<String, Vec<Provider>>,
    /// Every unit this one needs.
    pub upstream: BTreeSet<Name>,
    pub host: Option<&'a HostEntry>,
}

/// What is emitted for one unit; it lives only until it is written out.
#[derive(Default)]
pub struct Emitted {
    /// By path in the unit's folder.
    pub documents: BTreeMap<String, Document>,
    /// Inputs from units whose values are known only once they are applied: variable → (unit, output).
    pub inputs: BTreeMap<String, (Name, String)>,
    /// Files by path in the estate.
    pub files: Vec<(String, Vec<u8>)>,
    pub problems: Vec<Diagnostic>,
}

/// Who meets a need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The element, for a need with `each`.
    pub each: Option<String>,
    pub name: Name,
}

/// A setting's value and where it comes from.
#[derive(Debug, Clone)]
pub struct SettingValue {
    pub value: Json,
    pub origin: Origin,
}

/// A file of a unit before it is written out.
pub enum Document {
    Json(Traced),
    Sls(Traced),
}

impl<'a> Work<'a> {
    pub fn new(input: &'a Input<'a>) -> Work<'a> {
        Work {
            input,
            found: Diagnostics::new(),
            units: BTreeMap::new(),
            unsound: BTreeSet::new(),
            order: Vec::new(),
            files: BTreeMap::new(),
            operations: BTreeMap::new(),
        }
    }

    /// Does something with each unit; results in the order of names.
    pub fn each_unit<R: Send>(&self, act: impl Fn(&Work<'a>, &Unit<'a>) -> R + Sync) -> Vec<R> {
        let units: Vec<&Unit<'a>> = self.units.values().collect();
        ask_each(&units, |unit| act(self, unit))
    }

    /// Where a value of the pillar was written.
    pub fn written(&self, node: &Node, key: String) -> Origin {
        let file = self.input.environment.sources.file(node.file).map_or("", |file| file.as_str());
        Origin::pillar(file, &key)
    }

    /// Where a choice of a unit's entry was written: `host`, `version`, `settings:port`; nothing when it was not.
    pub fn chosen(&self, unit: &Unit<'_>, path: &str) -> Vec<Origin> {
        let node = path.split(':').try_fold(&unit.entry.node, |node, step| node.get(step));
        let key = Origin::component_key(&unit.id.name, path);
        node.map(|node| self.written(node, key)).into_iter().collect()
    }

    /// Whether a unit's entry is somebody's own YAML, which eos never rewrites.
    pub fn is_by_hand(&self, unit: &Unit<'_>) -> bool {
        let sources = &self.input.environment.sources;
        let path = component_path(&unit.id.env, &unit.id.name);
        let text = sources.text(unit.entry.node.file).unwrap_or_default();
        sources.file(unit.entry.node.file) != Some(&path) || !ours(&path, text.as_bytes())
    }

    pub fn place(&self, node: &Node) -> Option<eos_model::Place> {
        self.input.environment.place(node)
    }

    /// The units of which nothing is known to be wrong.
    pub fn sound(&self) -> impl Iterator<Item = &Unit<'a>> {
        self.units.values().filter(|unit| !self.unsound.contains(&unit.id.name))
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }
}

impl Unit<'_> {
    pub fn name(&self) -> &Name {
        &self.id.name
    }

    /// The id of its Nomad job.
    pub fn job(&self) -> String {
        self.entry.job.clone().unwrap_or_else(|| format!("{}-{}", self.id.env, self.id.name))
    }

    pub fn runtime(&self) -> Option<&str> {
        self.entry.runtime.as_deref()
    }

    /// The account that a task of its runs under, where one is named: the task's own, or what its package brings.
    pub fn account<'t>(&'t self, task: &'t Task) -> Option<&'t str> {
        task.user.as_deref().or_else(|| self.package_account())
    }

    /// The account that the Debian package of its program brings; there is none with a program of one's own.
    pub fn package_account(&self) -> Option<&str> {
        let installed = self.runtime() == Some("host") && self.entry.binary.is_none();
        self.component.runtimes.host.as_ref().filter(|_| installed)?.user.as_deref()
    }

    /// Whether it runs several times over, each on a port and a host of Nomad's choice.
    pub fn is_replicated(&self) -> bool {
        self.entry.replicas.is_some_and(|replicas| replicas > 1)
    }

    /// The hosts its states apply to: those it names, else the host it is placed on.
    pub fn state_hosts(&self) -> Vec<String> {
        let named = self.component.states_on.as_ref().and_then(|setting| self.settings.get(setting));
        let nodes = named.and_then(|setting| setting.value.as_array());
        match nodes.filter(|nodes| !nodes.is_empty()) {
            Some(nodes) => nodes.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            None => self.host.iter().map(|host| host.name.to_string()).collect(),
        }
    }
}
