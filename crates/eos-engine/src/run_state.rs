//! What a run is, as a pure fold over its journal.
//!
//! One enum a unit, one function that says which step may follow which state. Whoever writes a journal asks it first,
//! so a journal never has a step that could not have happened; whoever reads one refuses it.

use std::collections::BTreeMap;

use eos_model::{Code, Name, codes};
use eos_tofu::ChildIdentity;
use serde::Serialize;

use crate::record::{Begun, Direction, Outcome, Record, Step, Taken};

/// Where a unit is in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitState {
    /// Nothing was begun.
    Planned,
    /// Tofu may be changing things.
    Applying,
    /// Tofu is done, nobody has looked yet.
    Verifying,
    Done,
    Failed,
    /// Ended in order before it was done, since the run was told to: nothing is wrong with it.
    Stopped,
    /// Tofu may be taking things back.
    Undoing,
    Undone,
    /// A person is needed.
    Stuck,
}

/// One unit of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitRun {
    pub state: UnitState,
    /// When it got there.
    pub at: i64,
    /// The last tofu that was started to apply it.
    pub child: Option<ChildIdentity>,
    /// When that was.
    pub child_at: i64,
    /// It was started to take the unit back.
    #[serde(skip)]
    pub child_undoes: bool,
    /// Tofu once did all of it, whatever became of it since.
    #[serde(skip)]
    pub applied_whole: bool,
    /// Why it failed, is stuck or was stopped.
    pub reasons: Vec<String>,
    /// Why it failed or was stuck last, whatever was tried since; none once it is done or taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_failure: Vec<String>,
    /// The code of the failure.
    pub code: Option<String>,
    /// State locks that this run left behind.
    pub locks: Vec<String>,
}

/// A run as its journal tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    #[serde(skip)]
    pub begun: Begun,
    pub taken: Option<Taken>,
    pub direction: Direction,
    pub units: BTreeMap<Name, UnitRun>,
    /// None while a process has it, or after that process was killed.
    pub outcome: Option<Outcome>,
}

/// A journal that tells something impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    #[error("a journal begins with what the run is, once")]
    Begin,
    #[error("{0} is not part of the run")]
    UnknownUnit(Name),
    #[error("{unit} cannot be {step} when it is {state:?}")]
    Step { unit: Name, state: UnitState, step: &'static str },
    #[error("nothing happens in a run that nobody has taken up")]
    NotTaken,
}

/// Codes of a unit that ended only because its run was told to stop.
const TOLD: [Code; 2] = [codes::STOPPED, codes::LEASE_LOST];

impl UnitState {
    /// The state after a step; none when that step cannot happen.
    pub fn after(self, step: &Step, direction: Direction) -> Option<UnitState> {
        use Direction::{Forward, Undo};
        use UnitState::*;
        Some(match (step, self, direction) {
            // Again after a crash, a failure, or a person's help.
            (Step::Applying, Planned | Applying | Verifying | Failed | Stopped | Stuck, Forward) => Applying,
            (Step::Verifying, Applying, Forward) => Verifying,
            // Straight from planned: nothing to do but to record it.
            (Step::Done, Verifying | Planned, Forward) => Done,
            (Step::Failed { code, .. }, Planned | Applying | Verifying | Failed | Stopped, Forward)
            // Taking it back failed and left nothing unrecorded: it can be tried again.
            | (Step::Failed { code, .. }, Undoing | Failed | Stopped, Undo) => {
                if TOLD.iter().any(|told| told.as_str() == code) { Stopped } else { Failed }
            }
            // Also what was not begun, or is back already, when what it takes from others came back with other values.
            (Step::Undoing, _, Undo) => Undoing,
            (Step::Undone, Undoing | Planned, Undo) => Undone,
            // Once more where there is something else to look after by now.
            (Step::Stuck { .. }, Applying | Verifying | Failed | Stopped | Stuck, Forward) => Stuck,
            (Step::Stuck { .. }, Undoing, Undo) => Stuck,
            (Step::Child { .. }, Applying, Forward) => Applying,
            (Step::Child { .. }, Undoing, Undo) => Undoing,
            (Step::LockLeft { .. }, state, _) => state,
            _ => return None,
        })
    }

    /// Whether tofu may have changed something that no record tells of.
    pub fn is_half_done(self) -> bool {
        matches!(self, UnitState::Applying | UnitState::Undoing | UnitState::Stuck)
    }

    /// Whether tofu was ever let at it.
    pub fn was_touched(self) -> bool {
        !matches!(self, UnitState::Planned | UnitState::Undone)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            UnitState::Planned => "planned",
            UnitState::Applying => "applying",
            UnitState::Verifying => "verifying",
            UnitState::Done => "done",
            UnitState::Failed => "failed",
            UnitState::Stopped => "stopped",
            UnitState::Undoing => "undoing",
            UnitState::Undone => "undone",
            UnitState::Stuck => "stuck",
        }
    }
}

impl Step {
    pub fn as_str(&self) -> &'static str {
        match self {
            Step::Applying => "applying",
            Step::Child { .. } => "handed to tofu",
            Step::Verifying => "verifying",
            Step::Done => "done",
            Step::Failed { .. } => "failed",
            Step::Undoing => "undoing",
            Step::Undone => "undone",
            Step::Stuck { .. } => "stuck",
            Step::LockLeft { .. } => "locked",
        }
    }
}

impl Run {
    /// The run that a journal tells of; none for a journal that was cut off before its first record.
    pub fn fold(records: &[Record]) -> Result<Option<Run>, Illegal> {
        let Some((first, rest)) = records.split_first() else { return Ok(None) };
        let Record::Begun(begun) = first else { return Err(Illegal::Begin) };
        let mut run = Run::new((**begun).clone());
        for record in rest {
            run.take(record)?;
        }
        Ok(Some(run))
    }

    pub fn new(begun: Begun) -> Run {
        let planned = |at| UnitRun {
            state: UnitState::Planned,
            at,
            child: None,
            child_at: 0,
            child_undoes: false,
            applied_whole: false,
            reasons: Vec::new(),
            last_failure: Vec::new(),
            code: None,
            locks: Vec::new(),
        };
        let units = begun.units.keys().map(|name| (name.clone(), planned(begun.at))).collect();
        Run { begun, taken: None, direction: Direction::Forward, units, outcome: None }
    }

    /// Takes one more record in, or refuses it and stays as it is.
    pub fn take(&mut self, record: &Record) -> Result<(), Illegal> {
        match record {
            Record::Begun(_) => Err(Illegal::Begin),
            Record::Taken(taken) => {
                // What was taken back once is not brought forward again: that is a new run.
                self.direction = match self.direction {
                    Direction::Undo => Direction::Undo,
                    Direction::Forward => taken.direction,
                };
                self.taken = Some(taken.clone());
                self.outcome = None;
                Ok(())
            }
            Record::Unit { unit, at, step } => self.step(unit, *at, step),
            Record::Ended { outcome, .. } => {
                self.outcome = Some(*outcome);
                Ok(())
            }
        }
    }

    fn step(&mut self, name: &Name, at: i64, step: &Step) -> Result<(), Illegal> {
        if self.taken.is_none() || self.outcome.is_some() {
            return Err(Illegal::NotTaken);
        }
        let unit = self.units.get_mut(name).ok_or_else(|| Illegal::UnknownUnit(name.clone()))?;
        let state = unit.state.after(step, self.direction).ok_or(Illegal::Step {
            unit: name.clone(),
            state: unit.state,
            step: step.as_str(),
        })?;
        unit.state = state;
        unit.at = at;
        match step {
            Step::Child { child } => {
                unit.child = Some(*child);
                unit.child_at = at;
                unit.child_undoes = state == UnitState::Undoing;
            }
            Step::LockLeft { lock } => unit.locks.push(lock.clone()),
            Step::Failed { code, message } => {
                unit.reasons = vec![message.clone()];
                unit.code = Some(code.clone());
            }
            Step::Stuck { reasons } => unit.reasons.clone_from(reasons),
            Step::Applying | Step::Undoing => {
                unit.reasons.clear();
                unit.code = None;
            }
            Step::Verifying | Step::Done => unit.applied_whole = true,
            Step::Undone => {}
        }
        match state {
            UnitState::Failed | UnitState::Stuck => unit.last_failure.clone_from(&unit.reasons),
            UnitState::Done | UnitState::Undone => unit.last_failure.clear(),
            _ => {}
        }
        Ok(())
    }

    /// Over for good: nothing is left to resume.
    pub fn is_finished(&self) -> bool {
        matches!(self.outcome, Some(Outcome::Done | Outcome::Undone | Outcome::Superseded))
    }

    /// Units that a killed or stuck process may have left between two states.
    pub fn half_done(&self) -> impl Iterator<Item = (&Name, &UnitRun)> {
        self.units.iter().filter(|(_, unit)| unit.state.is_half_done())
    }

    /// What the states of its units amount to.
    pub fn verdict(&self) -> Outcome {
        let states = || self.units.values().map(|unit| unit.state);
        if states().any(|state| state == UnitState::Stuck) {
            return Outcome::Stuck;
        }
        match self.direction {
            Direction::Undo if states().all(|s| matches!(s, UnitState::Undone | UnitState::Planned)) => {
                Outcome::Undone
            }
            Direction::Forward if states().all(|s| s == UnitState::Done) => Outcome::Done,
            _ if states().any(|state| state == UnitState::Failed) => Outcome::Failed,
            _ => Outcome::Stopped,
        }
    }
}
