//! Drift: what differs from what was applied, though nobody asked for it. Reverting is applying the same bytes again.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostics, EnvName, Name};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::applied::{IgnoredDrift, SeenDrift};
use crate::change::Change;
use crate::engine::Engine;
use crate::order::Needs;
use crate::plan::{Look, RunPlan, Verdict};
use crate::planner::{Survey, Wanted};
use crate::record::Goal;
use crate::unit::Units;

#[derive(Clone, Copy)]
pub struct DriftRequest<'a> {
    pub env: &'a EnvName,
    pub commit: &'a str,
    /// Only these; every applied unit when none.
    pub only: Option<&'a BTreeSet<Name>>,
    /// What Nomad or Salt says of a change; a difference is known by it.
    pub preview: &'a (dyn Fn(&Change) -> String + Sync),
    /// Also what somebody decided to ignore.
    pub everything: bool,
}

/// What differs, and the plan that brings it back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// By unit; without what somebody decided to ignore.
    pub units: BTreeMap<Name, Vec<Change>>,
    /// Differences that are ignored.
    pub ignored: BTreeMap<Name, Vec<Change>>,
    /// Applying this with [`Drift::units_as_applied`] reverts the drift.
    #[serde(skip)]
    pub revert: RunPlan,
    /// The bytes that were applied, which the plan is for.
    #[serde(skip)]
    pub units_as_applied: Units,
}

impl Engine<'_> {
    /// Plans every applied unit against the bytes it was applied with.
    pub fn drift(&self, request: &DriftRequest<'_>) -> Result<Drift, Diagnostics> {
        let applied = self.applied().units(request.env)?;
        let is_asked = |name: &Name| request.only.is_none_or(|only| only.contains(name));
        let mut wanted = BTreeMap::new();
        for (name, record) in applied.iter().filter(|(name, unit)| is_asked(name) && unit.digest.is_some()) {
            wanted.insert(
                name.clone(),
                Wanted { unit: self.archived(request.env, name, record)?, goal: Goal::Present },
            );
        }
        let units_as_applied = Units {
            env: request.env.clone(),
            units: wanted.iter().map(|(name, want)| (name.clone(), (*want.unit).clone())).collect(),
        };
        let compiled: Needs = applied.iter().map(|(name, unit)| (name.clone(), unit.needs.clone())).collect();
        let mut revert = self.plan_survey(&Survey {
            env: request.env,
            commit: request.commit,
            wanted,
            compiled,
            kept: self.applied().kept(request.env)?,
            applied,
            look: Look::Everything,
            destroy_data: &BTreeSet::new(),
            adopt: &BTreeMap::new(),
            new_state: &BTreeSet::new(),
        })?;
        let (mut units, mut ignored) = (BTreeMap::new(), BTreeMap::new());
        for (name, unit) in &mut revert.units {
            let mut rules = self.applied().ignored_drift(&self.id(request.env, name))?;
            rules.retain(|_| !request.everything);
            let is_ignored = |change: &Change| is_ignored(change, &rules, &(request.preview)(change));
            let (hidden, shown): (Vec<Change>, Vec<Change>) =
                unit.changes().iter().cloned().partition(is_ignored);
            // A plan is applied whole: a unit with nothing but ignored differences is left alone.
            if shown.is_empty() && !hidden.is_empty() {
                unit.verdict = Verdict::Unchanged { record: false };
            }
            if !shown.is_empty() {
                units.insert(name.clone(), shown);
            }
            if !hidden.is_empty() {
                ignored.insert(name.clone(), hidden);
            }
        }
        for name in revert.units.keys() {
            let seen = units.get(name).map(|changes: &Vec<Change>| SeenDrift {
                addresses: changes.iter().map(|change| change.address.clone()).collect(),
                at: self.now(),
            });
            // For eos status; what cannot be written down is told all the same.
            let _ = self.applied().see_drift(&self.id(request.env, name), seen.as_ref());
        }
        Ok(Drift { units, ignored, revert, units_as_applied })
    }
}

fn is_ignored(change: &Change, rules: &[IgnoredDrift], preview: &str) -> bool {
    let rules = || rules.iter().filter(|rule| rule.address == change.address);
    let seen = difference(change, preview);
    let ruled = |path: Option<&str>| rules().any(|rule| rule.seen.is_none() && rule.path.as_deref() == path);
    rules().any(|rule| rule.seen.as_ref() == Some(&seen))
        || ruled(None)
        || (!change.fields.is_empty() && change.fields.iter().all(|field| ruled(Some(&field.path))))
}

/// What tells one difference of a resource from another: its fields, and what the tool says of it.
pub fn difference(change: &Change, preview: &str) -> String {
    let mut digest = Sha256::new();
    for field in change.fields.iter().filter(|field| field.path != "modify_index") {
        digest.update(format!("{}\0{}\0{}\0", field.path, field.before, field.after));
    }
    digest.update(change.kind.as_str());
    digest.update(preview);
    crate::unit::hex(&digest.finalize())
}
