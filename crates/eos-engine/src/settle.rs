//! After tofu: whether the unit works, what is recorded of it, and which data left its care.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use eos_model::{Diagnostic, Name, codes};
use eos_tofu::Outputs;
use serde_json::Value as Json;

use crate::agreed::{ChangeKind, without_keys};
use crate::applied::{AppliedUnit, KeptObject};
use crate::change::Change;
use crate::data;
use crate::observer::{Progress, Seen};
use crate::one_unit::{Conduct, Journaled, Target, UnitEnd};
use crate::outputs;
use crate::planner::{OWN_PROVIDER, is_own};
use crate::record::{Goal, Step};
use crate::unit::{Digest, Unit};

impl Conduct<'_> {
    pub fn look_and_settle(&self, name: &Name, target: &Target<'_>, made: Outputs) -> Journaled<()> {
        let outputs = outputs::split(&made);
        let mut seen = Seen::new();
        if target.goal == Goal::Present {
            self.engine.observer.on(&Progress::Verifying { unit: name });
            seen =
                self.engine.health.check(target.unit, target.inputs).map_err(|found| match found.code {
                    // It stays "verifying": that is no failure, nothing is taken back for it, and resume looks again.
                    codes::NOMAD => UnitEnd::Failed(not_known(name, found)),
                    _ => self.fail(name, not_healthy(name, found)),
                })?;
        }
        if let Some(lost) = self.leases.lost() {
            return Err(UnitEnd::NotBegun(lost));
        }
        // What cannot be recorded stays "verifying": resume records it without applying again.
        self.settle(name, target, outputs, seen).map_err(|e| UnitEnd::Failed(self.judged(e)))?;
        self.step(name, Step::Done)
    }

    /// Whether a unit that was taken back works. Taken back it is all the same: what does not work is told.
    pub fn look_back(&self, target: &Target<'_>) -> Seen {
        if target.goal == Goal::Gone {
            return Seen::new();
        }
        let name = &target.unit.id.name;
        self.engine.observer.on(&Progress::Verifying { unit: name });
        self.engine.health.check(target.unit, target.inputs).unwrap_or_else(|found| {
            self.noticed.lock().unwrap_or_else(PoisonError::into_inner).push(not_healthy_again(name, found));
            Seen::new()
        })
    }

    /// Records the unit as it is now, and publishes its outputs.
    pub fn settle(
        &self,
        name: &Name,
        target: &Target<'_>,
        (outputs, sensitive): (BTreeMap<String, Json>, Vec<String>),
        seen: Seen,
    ) -> Result<(), Diagnostic> {
        let id = self.id(name);
        let manifest = &target.unit.manifest;
        let record = (target.goal == Goal::Present).then(|| AppliedUnit {
            digest: Some(target.unit.digest.clone()),
            attempt: None,
            kind: manifest.kind.clone(),
            host: manifest.host.as_ref().map(ToString::to_string),
            needs: manifest.needs.clone(),
            inputs: target.inputs.clone(),
            sources: manifest.inputs.clone(),
            outputs,
            sensitive,
            seen,
            commit: self.commit.clone(),
            run: self.begun.run.clone(),
            at: self.engine.now(),
        });
        let mut kept = self.kept().get(name).cloned().unwrap_or_default();
        if target.goal == Goal::Present {
            let declared = data::declared(&target.unit.files);
            kept.objects.retain(|object| !declared.contains(&without_keys(&object.address)));
        }
        self.engine.applied().settle(&id, record.as_ref(), &kept)?;
        outputs::publish(self.engine.layout, &id, record.as_ref())?;
        self.kept().insert(name.clone(), kept);
        match record {
            Some(record) => self.applied().insert(name.clone(), record),
            None => self.applied().remove(name),
        };
        Ok(())
    }

    /// What is about to leave tofu's care is written down before: afterwards nothing else would know of it.
    pub fn remember_kept(&self, name: &Name, changes: &[Change]) -> Result<(), Diagnostic> {
        let intended = &self.begun.units[name];
        // What ran before eos took it over is let go of, not kept: it holds no data, and is nobody's to purge.
        let was_there = |change: &Change| {
            is_own(&change.provider) && intended.treatment.adopt.contains_key(&change.address)
        };
        let forgotten: Vec<&Change> =
            changes.iter().filter(|change| change.kind == ChangeKind::Forget && !was_there(change)).collect();
        let before = intended.before.as_ref().and_then(|before| before.digest.as_ref());
        let digest = before.unwrap_or(&intended.digest);
        let object = |change: &Change| KeptObject {
            address: change.address.clone(),
            provider: change.provider.clone(),
            id: change.id.clone(),
            class: change.data.as_ref().and_then(|data| data.classes.first().cloned()),
            host: change.host.clone(),
            places: change.data.as_ref().map(|data| data.places.clone()).unwrap_or_default(),
            digest: Some(digest.clone()),
            commit: self.commit_of(name, digest),
            run: self.begun.run.clone(),
            at: self.engine.now(),
        };
        self.keep(name, forgotten.into_iter().map(object).collect())
    }

    /// Data that a killed tofu made with eos's own provider, or began to, and that its state does not have: nothing would
    /// know of it once the unit is taken back.
    pub fn remember_unrecorded(
        &self,
        name: &Name,
        made: &Unit,
        addresses: Vec<String>,
    ) -> Result<(), Diagnostic> {
        let classes = data::data_resources(&made.files);
        let object = |address: String| KeptObject {
            class: classes.get(&without_keys(&address)).cloned().flatten(),
            address,
            provider: OWN_PROVIDER.to_owned(),
            id: None,
            host: made.manifest.host.as_ref().map(ToString::to_string),
            places: made.manifest.volumes.iter().filter_map(|volume| volume.path.clone()).collect(),
            digest: Some(made.digest.clone()),
            commit: self.commit_of(name, &made.digest),
            run: self.begun.run.clone(),
            at: self.engine.now(),
        };
        self.keep(name, addresses.into_iter().map(object).collect())
    }

    /// The commit that compiles to the bytes of a unit which it had before the run, or gets by it.
    fn commit_of(&self, name: &Name, digest: &Digest) -> Option<String> {
        let intended = &self.begun.units[name];
        let applied = intended.before.as_ref().filter(|before| before.digest.as_ref() == Some(digest));
        if let Some(applied) = applied {
            return Some(applied.commit.clone());
        }
        match intended.goal {
            Goal::Present if intended.digest == *digest => Some(self.begun.commit.clone()),
            // What was never applied to its end was begun by the last run, or before it.
            _ => self.begun.before.clone(),
        }
    }

    fn keep(&self, name: &Name, objects: Vec<KeptObject>) -> Result<(), Diagnostic> {
        if objects.is_empty() {
            return Ok(());
        }
        let mut kept = self.kept().get(name).cloned().unwrap_or_default();
        kept.objects.retain(|known| !objects.iter().any(|object| object.address == known.address));
        kept.objects.extend(objects);
        self.engine.applied().keep(&self.id(name), &kept)?;
        self.kept().insert(name.clone(), kept);
        Ok(())
    }
}

/// What is said of a unit that is as it was before a run and does not work.
fn not_healthy_again(name: &Name, found: Diagnostic) -> Diagnostic {
    let problem = match found.code {
        codes::STOPPED => Diagnostic::warning(
            codes::STOPPED,
            format!("{name} is taken back; whether it works was not looked at to the end"),
        ),
        codes::NOMAD => Diagnostic::warning(
            codes::NOMAD,
            format!("{name} is taken back; whether it works is not known: {}", found.message),
        ),
        _ => {
            let message = format!("{name} is taken back and is not healthy: {}", found.message);
            let problem = Diagnostic::warning(codes::UNHEALTHY, message);
            Diagnostic { why: found.why, ..problem }
        }
    };
    problem.fix("it may need a while; eos drift looks again")
}

/// Nobody could be asked whether a unit works that was applied.
fn not_known(name: &Name, found: Diagnostic) -> Diagnostic {
    let message = format!("{name} was applied; whether it works is not known: {}", found.message);
    Diagnostic::error(codes::NOMAD, message).fix("once Nomad answers: eos resume looks again")
}

/// Why a unit is not done though it was applied. Where somebody said stop, nothing is known against it.
fn not_healthy(name: &Name, found: Diagnostic) -> Diagnostic {
    if found.code == codes::STOPPED {
        return found;
    }
    // The reason too: a message is what the journal keeps and eos status shows later.
    let reason = found.why.map(|why| format!("\n{why}")).unwrap_or_default();
    let message = format!("{name} was applied and is not healthy: {}{reason}", found.message);
    Diagnostic::error(codes::UNHEALTHY, message).fix("once it is healthy: eos resume; or eos undo")
}
