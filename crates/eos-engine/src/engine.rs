//! What a run needs of the outside, and tofu made ready for one unit.

use std::collections::BTreeMap;
use std::fs::File;

use eos_model::{Diagnostic, Name, UnitId};
use eos_store::Records;
use eos_store::lease::Leases;
use eos_tofu::{
    Backend, ChildEnvironment, Children, Encryption, Installation, Places, Session, Tofu, WorkFolder,
};
use serde_json::Value as Json;

use crate::applied::{Applied, AppliedUnit};
use crate::archive::Archive;
use crate::layout::Layout;
use crate::leases::LeaseTerms;
use crate::observer::{Health, Observer};
use crate::problems::cannot_plan;
use crate::record::Goal;
use crate::treatment::Treatment;
use crate::unit::Unit;

/// The tofu of an estate. Interrupting `children` stops a run: one SIGINT to each tofu, nothing more begun.
#[derive(Debug, Clone)]
pub struct Tools {
    pub tofu: Tofu,
    pub places: Places,
    pub installation: Installation,
    pub encryption: Option<Encryption>,
    pub children: Children,
}

/// What only the caller knows of a unit.
pub trait Surroundings: Sync {
    fn backend(&self, unit: &UnitId) -> Result<Backend, Diagnostic>;

    /// Environment variables that the unit's providers need, and no others.
    fn variables(&self, unit: &Unit) -> Result<Vec<(String, String)>, Diagnostic>;
}

/// Who acts, for leases and journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub user: String,
    pub machine: String,
    /// As typed, secrets elided.
    pub command: String,
}

/// Everything runs are made of. Its methods are in [`crate::plan`], [`crate::execute`], [`crate::resume`],
/// [`crate::undo`] and [`crate::drift`].
#[derive(Clone, Copy)]
pub struct Engine<'a> {
    pub layout: &'a Layout,
    pub tools: &'a Tools,
    pub surroundings: &'a dyn Surroundings,
    pub records: &'a dyn Records,
    pub leases: &'a dyn Leases,
    pub health: &'a dyn Health,
    pub observer: &'a dyn Observer,
    /// Seconds since 1970.
    pub clock: &'a (dyn Fn() -> i64 + Sync),
    /// How many units are worked on at once.
    pub parallel: usize,
    /// How leases are asked for, and how long others are waited for.
    pub terms: LeaseTerms,
    pub actor: &'a Actor,
}

/// A unit's folder with its bytes in it and tofu initialised; nobody else fills it while this lives.
pub(crate) struct Desk {
    pub session: Session,
    _lock: File,
}

impl<'a> Engine<'a> {
    pub fn applied(&self) -> Applied<'a> {
        Applied::new(self.records)
    }

    pub fn archive(&self) -> Archive {
        Archive::new(self.layout)
    }

    pub(crate) fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Whether the person, or a lost lease, asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.tools.children.is_interrupted()
    }

    /// Fills a unit's folder and initialises tofu in it.
    pub(crate) fn desk(
        &self,
        unit: &Unit,
        goal: Goal,
        treatment: &Treatment,
        inputs: &BTreeMap<String, Json>,
    ) -> Result<Desk, Diagnostic> {
        let lock = self.lock_folder(&unit.id)?;
        let failed = |error: eos_tofu::TofuError| cannot_plan(&unit.id.name, &error);
        let files = treatment.prepare(&unit.files, goal, inputs);
        let folder = WorkFolder::fill(&self.tools.places, &unit.id, &files).map_err(failed)?;
        let backend = self.surroundings.backend(&unit.id)?;
        let mut environment = ChildEnvironment::new(
            self.tools.tofu.flavor(),
            &folder,
            &self.tools.installation,
            &backend,
            self.tools.encryption.as_ref(),
        );
        for (name, value) in self.variables(unit)? {
            environment.set(name, value);
        }
        let children = self.tools.children.clone();
        let session = Session { tofu: self.tools.tofu.clone(), folder, environment, children };
        session.init(&self.tools.installation, &backend).map_err(failed)?;
        Ok(Desk { session, _lock: lock })
    }

    /// What the providers of a unit read. Its state may still have something of providers that only its earlier bytes name.
    fn variables(&self, unit: &Unit) -> Result<BTreeMap<String, String>, Diagnostic> {
        let mut variables: BTreeMap<_, _> = self.surroundings.variables(unit)?.into_iter().collect();
        let record = self.applied().unit(&unit.id)?;
        let earlier = record.iter().flat_map(AppliedUnit::digests).filter(|digest| **digest != unit.digest);
        // Bytes that are lost are told of by those who need them.
        for earlier in earlier.filter_map(|digest| self.archive().read(&unit.id, digest).ok()) {
            for (name, value) in self.surroundings.variables(&earlier)? {
                variables.entry(name).or_insert(value);
            }
        }
        Ok(variables)
    }

    pub(crate) fn id(&self, env: &eos_model::EnvName, name: &Name) -> UnitId {
        UnitId { env: env.clone(), name: name.clone() }
    }
}
