//! Taking a run up again that was cut off, failed or stopped.
//!
//! Nothing is done twice: a tofu that still applies is waited for, units that are done are left alone, the others are
//! planned again against the archived bytes and must fit what was agreed to.

use std::collections::BTreeMap;
use std::sync::Mutex;

use eos_model::{Diagnostic, Diagnostics, Name, codes};

use crate::applied::{AppliedEnvironment, AppliedUnit};
use crate::engine::Engine;
use crate::execute::{Follows, RevertFirst, attempt};
use crate::leases::HeldLeases;
use crate::observer::Progress;
use crate::one_unit::Conduct;
use crate::record::{Begun, Direction, Goal, Intended, OnFailure, Outcome};
use crate::report::Report;
use crate::run_id::RunId;
use crate::run_journal::RunJournal;
use crate::run_state::{Run, UnitState};
use crate::runs;

/// How a run is taken up again.
#[derive(Clone, Copy, Default)]
pub struct ResumeOptions<'a> {
    /// Somebody has looked after what the run listed as possibly left behind.
    pub looked_after: bool,
    /// Another policy than the run began with.
    pub on_failure: Option<OnFailure>,
    pub before_undo: Option<RevertFirst<'a>>,
    /// For a run that is being undone; nobody to ask: no commit follows another.
    pub follows: Option<Follows<'a>>,
}

impl<'a> Engine<'a> {
    /// Finishes a run in the direction it had: forward, or back when it was being undone.
    pub fn resume(&self, run: &RunId, options: &ResumeOptions<'_>) -> Result<Report, Diagnostics> {
        let known = runs::find(self.layout, run)?;
        self.refuse_finished(&known.run)?;
        let direction = known.run.direction;
        let commit =
            known.run.taken.as_ref().map_or(known.run.begun.commit.clone(), |taken| taken.commit.clone());
        let mut conduct = self.take_up(run, direction, &|_| Ok(commit.clone()))?;
        conduct.looked_after = options.looked_after;
        if let Some(policy) = options.on_failure {
            conduct.begun.on_failure = policy;
        }
        match direction {
            Direction::Forward => {
                conduct.mark_attempts()?;
                Ok(conduct.carry_out(options.before_undo))
            }
            Direction::Undo => {
                Ok(conduct.take_back(options.follows.unwrap_or(&|_, _| false), Diagnostics::new()))
            }
        }
    }

    /// Opens a run's journal, takes its leases and says in the journal who has it now. `commit` is asked for once nobody
    /// else can come in between.
    pub(crate) fn take_up(
        &self,
        run: &RunId,
        direction: Direction,
        commit: RevertFirst<'_>,
    ) -> Result<Conduct<'a>, Diagnostics> {
        let journal = RunJournal::open(self, run)?;
        let begun = journal.run().begun;
        let leases = HeldLeases::take(self, run, &begun.env, begun.units.keys())?;
        if let Some(problem) = self.overtaken(&journal.run())? {
            // Going on would take back what the later run did, so this one is left behind for good.
            let aside = self.put_unsaved_states_aside(&begun)?;
            journal.end(Outcome::Superseded)?;
            drop(journal);
            runs::put_away(self.layout, run);
            return Err(with_states_aside(problem, &aside).into());
        }
        let commit = commit(run)?;
        journal.take(self.actor, direction, &commit)?;
        let order: Vec<Name> = begun.units.keys().cloned().collect();
        self.observer.on(&Progress::Began { run, units: &order });
        Ok(Conduct {
            engine: *self,
            commit,
            leases,
            applied: Mutex::new(self.applied().units(&begun.env)?),
            kept: Mutex::new(self.applied().kept(&begun.env)?),
            saved: BTreeMap::new(),
            looked_after: false,
            noticed: Mutex::default(),
            journal,
            begun,
        })
    }

    fn refuse_finished(&self, run: &Run) -> Result<(), Diagnostic> {
        if !run.is_finished() {
            return Ok(());
        }
        let message = format!("run {} is over: nothing is left to do", run.begun.run);
        Err(Diagnostic::error(codes::NO_SUCH_RUN, message).fix(runs::instead(self.layout)))
    }

    /// Why a run can neither be gone on with nor be taken back: a later one, maybe of another clone, has changed a unit.
    pub(crate) fn overtaken(&self, run: &Run) -> Result<Option<Diagnostic>, Diagnostic> {
        let begun = &run.begun;
        let applied = self.applied().units(&begun.env)?;
        let last = self.applied().environment(&begun.env)?;
        // No other run has said since that it begins.
        let is_last =
            last.is_none_or(|last| last.run == begun.run || Some(&last.commit) == begun.before.as_ref());
        let is_ours = |name: &Name, intended: &Intended| {
            let Some(now) = applied.get(name) else {
                let state = run.units.get(name).map_or(UnitState::Planned, |unit| unit.state);
                // It says what it is at before it acts: without that it was killed first, or somebody took the unit away.
                return intended.goal == Goal::Gone
                    || intended.before.is_none()
                        && match state {
                            UnitState::Applying | UnitState::Verifying | UnitState::Done => false,
                            UnitState::Planned => is_last,
                            _ => true,
                        };
            };
            match &now.attempt {
                Some(attempt) => attempt.run == begun.run,
                None => now.run == begun.run || intended.before.as_ref() == Some(now),
            }
        };
        let changed: Vec<&str> = begun
            .units
            .iter()
            .filter(|(name, intended)| !is_ours(name, intended))
            .map(|(name, _)| name.as_str())
            .collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let message = format!("{} was changed by a later run than {}", changed.join(", "), begun.run);
        Ok(Some(
            Diagnostic::error(codes::STALE_CLONE, message)
                .why("going on with this run, or taking it back, would undo what the later one did")
                .fix("eos sync, then eos plan shows what there is to do; eos rollback <revision> goes back to any commit"),
        ))
    }
}

impl Conduct<'_> {
    /// Says in the store what the run is at: it may have been killed before it could, or have said that it left a unit in order.
    fn mark_attempts(&self) -> Result<(), Diagnostic> {
        let mut attempts: Vec<(Name, AppliedUnit)> = Vec::new();
        for (name, intended) in &self.begun.units {
            if self.journal.state(name) != UnitState::Done {
                let unit = self.bytes(name, &intended.digest)?;
                attempts.push((name.clone(), attempt(&self.begun, intended, &unit)));
            }
        }
        // A run that began since, of other units, has said what the environment is applied from.
        let applied = self.engine.applied();
        let last = applied.environment(&self.begun.env)?;
        let before = self.begun.before.as_ref();
        if last.as_ref().is_some_and(|last| last.run != self.begun.run && Some(&last.commit) != before) {
            return applied.attempt(&self.begun.env, &attempts);
        }
        let environment = AppliedEnvironment {
            commit: self.commit.clone(),
            run: self.begun.run.clone(),
            at: self.engine.now(),
        };
        applied.begin(&self.begun.env, &environment, &attempts, &|now| {
            if now == last.as_ref() { Ok(()) } else { Err(another_began(&self.begun)) }
        })
    }
}

/// The later run has a state of its own; only a person can tell what the other one's is still good for.
fn with_states_aside(problem: Diagnostic, aside: &[String]) -> Diagnostic {
    if aside.is_empty() {
        return problem;
    }
    let message = format!(
        "{}; the state that its tofu could not save is put aside: {}",
        problem.message,
        aside.join(", ")
    );
    Diagnostic { message, ..problem }
}

pub(crate) fn another_began(begun: &Begun) -> Diagnostic {
    Diagnostic::error(codes::STALE_CLONE, format!("another run began in {} just now", begun.env))
        .why("what the environment is applied from is said by one run at a time")
        .fix("eos resume again")
}
