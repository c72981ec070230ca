//! What a run would do: one entry a unit, each with a saved plan of tofu's, an envelope, or nothing to do.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::agreed::Agreed;
use crate::applied::AppliedUnit;
use crate::change::{Cause, Change, SettingChange};
use crate::record::{Edge, Goal};
use crate::treatment::Treatment;
use crate::unit::{Digest, Units};

/// What is planned.
#[derive(Debug, Clone, Copy)]
pub struct PlanRequest<'a> {
    pub units: &'a Units,
    /// The commit the units were compiled from; for an uncommitted change, the one it will be on top of.
    pub commit: &'a str,
    /// Only these; all when none.
    pub only: Option<&'a BTreeSet<Name>>,
    pub look: Look,
    /// Units whose data may be destroyed.
    pub destroy_data: &'a BTreeSet<Name>,
    /// Objects that are there already and are taken over: unit → address → the provider's id.
    pub adopt: &'a BTreeMap<Name, BTreeMap<String, String>>,
    /// Units whose state is lost for good: they are made anew.
    pub new_state: &'a BTreeSet<Name>,
}

/// How closely a plan looks at the real objects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Look {
    /// At those of every unit.
    #[default]
    Everything,
    /// At those of units whose bytes or inputs change; the others are not even planned.
    Changed,
    /// At none: what was last seen is trusted, and units that do not change are not even planned.
    Nothing,
}

/// What is to be taken away.
#[derive(Debug, Clone, Copy)]
pub struct DestroyRequest<'a> {
    pub env: &'a EnvName,
    pub commit: &'a str,
    /// Only these; everything that is applied when none.
    pub only: Option<&'a BTreeSet<Name>>,
    pub destroy_data: &'a BTreeSet<Name>,
    /// Units whose state is lost for good: nothing of theirs can be taken away any more.
    pub new_state: &'a BTreeSet<Name>,
}

/// A plan over the units of one environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlan {
    pub env: EnvName,
    pub commit: String,
    pub at: i64,
    pub units: BTreeMap<Name, UnitPlan>,
    /// Units in the order they would be done.
    pub order: Vec<Name>,
}

/// What would happen to one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitPlan {
    pub goal: Goal,
    pub digest: Digest,
    /// The bytes that are applied now.
    pub applied: Option<Digest>,
    pub kind: String,
    pub host: Option<String>,
    /// Units of this plan that must be over before.
    pub after: BTreeMap<Name, Edge>,
    /// How many units need it, directly or not.
    pub blast_radius: usize,
    /// The inputs it was planned with; without those not known yet.
    pub inputs: BTreeMap<String, Json>,
    pub treatment: Treatment,
    pub verdict: Verdict,
    /// What tofu warned of.
    pub warnings: Vec<String>,
    /// The server that was to be asked what it makes of this unit, and did not answer. Told by whoever speaks to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreached: Option<String>,
    /// Why the scheduler would find no place for it as things are now. Told by whoever speaks to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unplaced: Vec<String>,
    /// What the pillar says otherwise than when it was applied. Told by whoever reads the pillar.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingChange>,
    /// Others by which it changes, where its own settings do not. Told by the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Its bytes and inputs are those applied; nobody looked further.
    Untouched,
    /// Planned, and there is nothing to do. `record` when only the record of its bytes changes.
    Unchanged { record: bool },
    /// Changes, with the plan that does exactly them.
    Changes {
        changes: Vec<Change>,
        /// Outputs after the changes, where they are known; an output alone may be all that changes.
        outputs: BTreeMap<String, Option<Json>>,
        #[serde(with = "crate::plan_file::base64_bytes")]
        tfplan: Vec<u8>,
    },
    /// Not known before other units are applied: what it may create then. A unit that exists may also be updated in
    /// place, and `foreseen` is what would change with the values there are now.
    Envelope { waits_for: Vec<Awaited>, creates: BTreeSet<String>, updates: bool, foreseen: Vec<Change> },
}

/// An input whose value comes with another unit's apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    pub variable: String,
    pub unit: Name,
    pub output: String,
}

impl UnitPlan {
    /// Whether a run has anything to do for it.
    pub fn is_work(&self) -> bool {
        match &self.verdict {
            Verdict::Untouched => false,
            Verdict::Unchanged { record } => *record,
            Verdict::Changes { .. } | Verdict::Envelope { .. } => true,
        }
    }

    pub fn changes(&self) -> &[Change] {
        match &self.verdict {
            Verdict::Changes { changes, .. } | Verdict::Envelope { foreseen: changes, .. } => changes,
            Verdict::Untouched | Verdict::Unchanged { .. } => &[],
        }
    }

    /// What a person agrees to by agreeing to this plan.
    pub(crate) fn agreed(&self) -> Agreed {
        let changes = || self.changes().iter().map(|change| (change.address.clone(), change.kind)).collect();
        match &self.verdict {
            Verdict::Changes { .. } => Agreed::Changes { changes: changes() },
            Verdict::Envelope { creates, updates, .. } => {
                Agreed::Envelope { addresses: creates.clone(), updates: *updates, foreseen: changes() }
            }
            Verdict::Untouched | Verdict::Unchanged { .. } => Agreed::nothing(),
        }
    }
}

impl RunPlan {
    /// Nothing would change: exit code 0 of `eos plan`.
    pub fn is_empty(&self) -> bool {
        self.units.values().all(|unit| matches!(unit.verdict, Verdict::Untouched | Verdict::Unchanged { .. }))
    }

    /// Every change: destroys first, then replacements, changes and creations; units in the order they are done.
    pub fn changes(&self) -> Vec<&Change> {
        let place: BTreeMap<&Name, usize> =
            self.order.iter().enumerate().map(|(at, name)| (name, at)).collect();
        let mut changes: Vec<&Change> = self.units.values().flat_map(UnitPlan::changes).collect();
        changes.sort_by_key(|change| (change.kind, place.get(&change.unit).copied(), change.address.clone()));
        changes
    }

    /// Refuses a plan that was made for another commit or other bytes than there are now.
    pub fn refuse_outdated(&self, commit: &str, units: &Units) -> Result<(), Diagnostics> {
        let short = |commit: &str| commit.chars().take(10).collect::<String>();
        if self.env != units.env {
            return Err(stale(format!("the plan is for {}, not {}", self.env, units.env)).into());
        }
        if self.commit != commit {
            let message = format!(
                "the plan was made for commit {}; the estate is at {}",
                short(&self.commit),
                short(commit)
            );
            return Err(stale(message).into());
        }
        self.refuse_other_bytes(units)
    }

    /// Refuses a plan whose units compile to something else now.
    pub(crate) fn refuse_other_bytes(&self, units: &Units) -> Result<(), Diagnostics> {
        let mut found = Diagnostics::new();
        for (name, unit) in &self.units {
            let fits = match unit.goal {
                Goal::Present => units.units.get(name).is_some_and(|compiled| compiled.digest == unit.digest),
                Goal::Gone => !units.units.contains_key(name) || !unit.is_work(),
            };
            if !fits {
                found.push(stale(format!("{name} compiles to something else than what was planned")));
            }
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// Refuses a plan when one of its units was applied since, by whatever run.
    pub fn refuse_applied_since(&self, applied: &BTreeMap<Name, AppliedUnit>) -> Result<(), Diagnostics> {
        let now = |name: &Name| applied.get(name).and_then(|applied| applied.digest.as_ref());
        let mut others =
            self.units.iter().filter(|(name, unit)| unit.is_work() && now(name) != unit.applied.as_ref());
        let Some((first, _)) = others.next() else { return Ok(()) };
        let names = match others.count() {
            0 => format!("{first} was"),
            more => format!("{first} and {more} more were"),
        };
        Err(stale(format!("{names} applied since the plan was made")).into())
    }
}

fn stale(message: String) -> Diagnostic {
    Diagnostic::error(codes::PLAN_STALE, message)
        .why("a plan is applied exactly as it was shown, or not at all")
        .fix("eos plan shows what there is to do now")
}
