//! How a run ended, for people and for exit codes.

use std::collections::BTreeMap;

use eos_model::{Diagnostics, Name};
use serde::Serialize;

use crate::record::{Direction, Goal, Outcome};
use crate::run_id::RunId;
use crate::run_state::{Run, UnitState};
use crate::undo::UndoneUnit;

/// The end of a run, or of one more try at it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// None when there was nothing to do.
    pub run: Option<RunId>,
    pub outcome: Outcome,
    /// Which way it was going.
    pub direction: Direction,
    /// The commit by which the pillar asks for what it did before the run, where that is taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverted: Option<String>,
    pub units: BTreeMap<Name, UnitReport>,
    /// What went wrong, unit by unit, and with the run as a whole.
    pub problems: Diagnostics,
    /// Of units that were taken back: what of them is still there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<UndoneUnit>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitReport {
    pub goal: Goal,
    pub state: UnitState,
    /// Why it failed or is stuck.
    pub reasons: Vec<String>,
}

impl Report {
    pub(crate) fn of(run: &Run, outcome: Outcome, problems: Diagnostics) -> Report {
        let unit = |(name, unit): (&Name, &crate::run_state::UnitRun)| {
            let goal = run.begun.units.get(name).map_or(Goal::Present, |intended| intended.goal);
            (name.clone(), UnitReport { goal, state: unit.state, reasons: unit.reasons.clone() })
        };
        let back = run.taken.as_ref().filter(|_| run.direction == Direction::Undo);
        let back = back.map(|taken| taken.commit.clone()).filter(|commit| *commit != run.begun.commit);
        Report {
            run: Some(run.begun.run.clone()),
            outcome,
            direction: run.direction,
            reverted: back,
            units: run.units.iter().map(unit).collect(),
            problems,
            stays: Vec::new(),
        }
    }

    pub(crate) fn nothing_to_do() -> Report {
        Report {
            run: None,
            outcome: Outcome::Done,
            direction: Direction::Forward,
            reverted: None,
            units: BTreeMap::new(),
            problems: Diagnostics::new(),
            stays: Vec::new(),
        }
    }
}
