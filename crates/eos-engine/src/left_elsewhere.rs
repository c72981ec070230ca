//! What a run may have made that this clone cannot go on with: one of a clone that is lost, or one that was overtaken. The
//! store says only that it did not end in order; the bytes it had say what it would have made, and the state what of that is
//! recorded.
//!
//! What is eos's own is taken back: jobs that bear the unit's mark with their secrets, and host states that can be undone.
//! Data is remembered as kept. At all else a person has to look before anything is begun.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, Diagnostics, Name, UnitId, codes};
use eos_tofu::{Children, Session};
use serde_json::Value as Json;

use crate::agreed::{ChangeKind, without_keys};
use crate::applied::{AppliedUnit, Attempt};
use crate::change::{Change, DataNote, Fate, LEFT_ELSEWHERE};
use crate::data;
use crate::data_in_care::DataInCare;
use crate::engine::Engine;
use crate::jobs;
use crate::outputs;
use crate::plan::{RunPlan, UnitPlan, Verdict};
use crate::planner::OWN_PROVIDER;
use crate::problems::{self, AGAIN, cannot_plan};
use crate::reclaim::{is_job, is_undone_by_states};
use crate::record::Goal;
use crate::runs;
use crate::treatment::Treatment;
use crate::unit::{Unit, Units};
use crate::unrecorded::is_harmless;

/// What such a run may have made of a unit that no state tells of and that is not asked for.
pub(crate) struct LeftElsewhere {
    /// The bytes that it was to bring the unit to.
    pub made: Unit,
    /// What eos takes back, by address, with what becomes of it.
    pub ours: BTreeMap<String, ChangeKind>,
    /// What only a person can look for.
    foreign: BTreeSet<String>,
}

/// A unit, where it is to be brought, and what is applied beside it.
#[derive(Clone, Copy)]
pub(crate) struct Brought<'b> {
    pub unit: &'b Unit,
    pub goal: Goal,
    pub treatment: &'b Treatment,
    pub applied: &'b BTreeMap<Name, AppliedUnit>,
}

impl Engine<'_> {
    /// What is left of runs that are told of by `record`, which is that of the unit before anything was begun here.
    pub(crate) fn left_elsewhere(
        &self,
        brought: Brought<'_>,
        record: Option<&AppliedUnit>,
    ) -> Result<Vec<LeftElsewhere>, Diagnostic> {
        let unit = brought.unit;
        let attempts = self.elsewhere(&unit.id, record)?;
        if attempts.is_empty() {
            return Ok(Vec::new());
        }
        let recorded = self.recorded(unit)?;
        // Whoever cannot do without bytes that are lost says so.
        let known = attempts.into_iter().filter_map(|(attempt, _)| {
            let made = self.archive().read(&unit.id, &attempt.digest).ok()?;
            left_by(attempt, made, brought, &recorded)
        });
        Ok(known.collect())
    }

    /// Shows what is taken back with the rest of a unit.
    pub(crate) fn show_left_elsewhere(
        &self,
        brought: Brought<'_>,
        planned: &mut UnitPlan,
    ) -> Result<(), Diagnostic> {
        let record = brought.applied.get(brought.unit.name());
        let left = self.left_elsewhere(brought, record)?;
        let more: Vec<Change> = left.iter().flat_map(LeftElsewhere::changes).collect();
        if more.is_empty() {
            return Ok(());
        }
        match &mut planned.verdict {
            Verdict::Changes { changes, .. } | Verdict::Envelope { foreseen: changes, .. } => {
                changes.extend(more);
            }
            verdict @ (Verdict::Untouched | Verdict::Unchanged { .. }) => {
                *verdict = Verdict::Changes { changes: more, outputs: BTreeMap::new(), tfplan: Vec::new() };
            }
        }
        Ok(())
    }

    /// Refuses what would make something a second time, or leave it behind, that a run of another clone may have made.
    pub fn refuse_left_elsewhere(&self, plan: &RunPlan, units: &Units) -> Result<(), Diagnostics> {
        let applied = self.applied().units(&plan.env)?;
        let mut found = Diagnostics::new();
        for (name, planned) in plan.units.iter().filter(|(_, planned)| planned.is_work()) {
            let record = applied.get(name);
            let id = self.id(&plan.env, name);
            let attempts = self.elsewhere(&id, record)?;
            let Some((attempt, whose)) = attempts.first() else { continue };
            let unit = match (planned.goal, units.units.get(name)) {
                (Goal::Present, Some(unit)) => unit.clone(),
                _ => self.archive().read(&id, &planned.digest)?,
            };
            let begun = format!("run {}{whose} left {name} half-done", attempt.run);
            let mut others = attempts.iter().filter(|(attempt, _)| attempt.digest != unit.digest);
            if let Some(lost) =
                others.find_map(|(attempt, _)| self.archive().read(&id, &attempt.digest).err())
            {
                let message = format!("{begun}, and what it was to make cannot be told: {}", lost.message);
                found.push(
                    Diagnostic::error(codes::STUCK, message)
                        .why("what it made and is not asked for would be left behind")
                        .fix(format!("look whether something of {name} is there and remove it; then {AGAIN} with --looked-after")),
                );
                continue;
            }
            let brought =
                Brought { unit: &unit, goal: planned.goal, treatment: &planned.treatment, applied: &applied };
            let mut may_exist = self.made_again(planned, &unit)?;
            for left in self.left_elsewhere(brought, record)? {
                may_exist.extend(left.foreign);
            }
            if may_exist.is_empty() {
                continue;
            }
            let list = may_exist.into_iter().collect::<Vec<_>>().join(", ");
            let (may, why, then) = match planned.goal {
                Goal::Present => {
                    ("may exist already", "and would make it a second time", "import or remove it")
                }
                Goal::Gone => ("may exist", "and would leave it behind", "remove it"),
            };
            found.push(
                Diagnostic::error(codes::STUCK, format!("{begun}: {list} {may}"))
                    .why(format!("tofu does not know of it {why}"))
                    .fix(format!("look whether it is there and {then}; then {AGAIN} with --looked-after")),
            );
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// What a plan creates that a run may have created before. Also the half of a replacement that creates, and what is known
    /// only once other units are applied: of that what is there already is not created.
    fn made_again(&self, planned: &UnitPlan, unit: &Unit) -> Result<BTreeSet<String>, Diagnostic> {
        let mut made: BTreeSet<String> = match &planned.verdict {
            Verdict::Envelope { creates, foreseen, .. } => {
                let recorded = self.recorded(unit)?;
                let replaced = foreseen.iter().filter(|change| change.kind == ChangeKind::Replace);
                let new = creates.iter().filter(|address| !recorded.contains(*address)).cloned();
                new.chain(replaced.map(|change| change.address.clone())).collect()
            }
            _ => planned.agreed().creates().into_iter().collect(),
        };
        made.retain(|address| !is_harmless(unit, address));
        Ok(made)
    }

    /// What began to make something of a unit, did not end in order, and is nothing that this clone could go on with; each
    /// with whose it is.
    fn elsewhere<'r>(
        &self,
        id: &UnitId,
        record: Option<&'r AppliedUnit>,
    ) -> Result<Vec<(&'r Attempt, &'static str)>, Diagnostic> {
        let made = record.into_iter().flat_map(AppliedUnit::not_over);
        let mut found: Vec<_> = made
            .filter(|attempt| attempt.goal == Goal::Present)
            .filter_map(|attempt| match runs::find(self.layout, &attempt.run) {
                Err(_) => Some((attempt, " of another clone")),
                Ok(known) if !known.run.is_finished() => None,
                Ok(known) => known.run.half_done().any(|(half, _)| *half == id.name).then_some((attempt, "")),
            })
            .collect();
        if !found.is_empty() {
            // One that goes on still holds its lease, which decides.
            let held = self.leases.list().map_err(|error| problems::lease(&error))?;
            let mut held = held.into_iter().filter(|lease| !lease.stale && lease.key == id.to_string());
            let holder = held.next().map(|lease| lease.owner.run);
            found.retain(|(attempt, _)| holder.as_ref() != Some(&attempt.run.to_string()));
        }
        Ok(found)
    }

    /// What the state of a unit has, without keys.
    fn recorded(&self, unit: &Unit) -> Result<BTreeSet<String>, Diagnostic> {
        let desk = self.desk(unit, Goal::Gone, &Treatment::default(), &BTreeMap::new())?;
        // Reading is allowed to a run that was told to stop.
        let session = Session { children: Children::new(), ..desk.session.clone() };
        let state = session.state().map_err(|error| cannot_plan(unit.name(), &error))?;
        Ok(state.instances().map(|instance| without_keys(&instance.address)).collect())
    }
}

/// None where the run cannot have begun with the unit: what it needs was not there.
fn left_by(
    attempt: &Attempt,
    made: Unit,
    brought: Brought<'_>,
    recorded: &BTreeSet<String>,
) -> Option<LeftElsewhere> {
    let inputs = outputs::inputs(made.name(), &made.manifest.inputs, brought.applied).ok()?;
    let asked: BTreeSet<String> = match brought.goal {
        Goal::Present => data::declared(&brought.unit.files).into_iter().collect(),
        Goal::Gone => BTreeSet::new(),
    };
    let has_mark = |job: &Json| !job["Meta"]["eos.unit"].is_null();
    let described = jobs::described(&made, &inputs).into_iter().filter(|(_, job)| has_mark(job));
    let marked: BTreeSet<String> = described.map(|(address, _)| address).collect();
    let data = DataInCare::of(&made).resources;
    let (mut ours, mut foreign) = (BTreeMap::new(), BTreeSet::new());
    let not_asked = |address: &String| !asked.contains(address);
    for address in data::declared(&made.files).into_iter().filter(not_asked) {
        if recorded.contains(&address) {
            continue;
        }
        let can_be_undone = is_undone_by_states(&made, &address);
        if marked.contains(&address) {
            ours.insert(address, ChangeKind::Destroy);
        } else if data.contains_key(&address) && address.starts_with("eos_") {
            let goes = brought.treatment.destroy_data && can_be_undone;
            ours.insert(address, if goes { ChangeKind::Destroy } else { ChangeKind::Forget });
        } else if can_be_undone {
            ours.insert(address, ChangeKind::Destroy);
        } else if is_job(&address) || !is_harmless(&made, &address) {
            foreign.insert(address);
        }
    }
    // The state may have the old one.
    let replaced = attempt.replaces.iter().filter(|address| not_asked(&without_keys(address)));
    foreign.extend(replaced.filter(|address| is_job(address) || !is_harmless(&made, address)).cloned());
    Some(LeftElsewhere { made, ours, foreign })
}

impl LeftElsewhere {
    /// A line of a plan for each thing that is taken back.
    fn changes(&self) -> Vec<Change> {
        let (main, data) = (self.made.main(), DataInCare::of(&self.made).resources);
        let manifest = &self.made.manifest;
        let change = |(address, kind): (&String, &ChangeKind)| {
            let target = main.pointer(&format!("/resource/{}/target", address.replace('.', "/")));
            let host = target.and_then(Json::as_str).map(str::to_owned);
            let note = data.get(address).map(|class| DataNote {
                classes: class.iter().cloned().collect(),
                places: manifest.volumes.iter().filter_map(|volume| volume.path.clone()).collect(),
                fate: if *kind == ChangeKind::Forget { Fate::Kept } else { Fate::Lost },
            });
            Change {
                unit: self.made.name().clone(),
                address: address.clone(),
                kind: *kind,
                provider: OWN_PROVIDER.to_owned(),
                id: None,
                host: host.or_else(|| manifest.host.as_ref().map(ToString::to_string)),
                reason: Some(LEFT_ELSEWHERE.to_owned()),
                fields: Vec::new(),
                data: note,
                operation: None,
                billed: None,
            }
        };
        self.ours.iter().map(change).collect()
    }
}
