//! What a journal says. A record is written before the thing it speaks of is begun, or after it is known to be over.
//!
//! The first record, [`Begun`], has everything that resume and undo need: they never look at the pillar, which may have
//! changed since.

use std::collections::BTreeMap;

use eos_model::{EnvName, Name};
use eos_tofu::ChildIdentity;
use serde::{Deserialize, Serialize};

use crate::agreed::Agreed;
use crate::applied::AppliedUnit;
use crate::run_id::RunId;
use crate::treatment::Treatment;
use crate::unit::Digest;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    Begun(Box<Begun>),
    /// A process took the run up: the first time, to resume it, or to undo it.
    Taken(Taken),
    /// Something about one unit.
    Unit {
        unit: Name,
        at: i64,
        step: Step,
    },
    /// The process that had the run let go of it.
    Ended {
        at: i64,
        outcome: Outcome,
    },
}

/// A run as it was agreed on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    pub run: RunId,
    pub env: EnvName,
    /// The commit that is applied.
    pub commit: String,
    /// The commit the environment was applied from before; none for its first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// As typed, secrets elided.
    pub command: String,
    pub at: i64,
    pub on_failure: OnFailure,
    /// Units with something to do; all others are as they were.
    pub units: BTreeMap<Name, Intended>,
}

/// What is to happen to one unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intended {
    pub goal: Goal,
    /// The archived bytes it is brought to, or taken away by.
    pub digest: Digest,
    pub treatment: Treatment,
    /// Units of this run that must be over before.
    pub after: BTreeMap<Name, Edge>,
    /// What the person saw and agreed to.
    pub agreed: Agreed,
    /// There is nothing to apply, only to record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record_only: bool,
    /// The unit before the run, for undo; none when there was nothing.
    pub before: Option<AppliedUnit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Its resources are as compiled.
    Present,
    /// Nothing is left but data that is kept.
    Gone,
}

/// Why a unit comes after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// It cannot be done when the other failed.
    Needs,
    /// Only the order matters.
    Order,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    pub at: i64,
    pub direction: Direction,
    pub user: String,
    pub machine: String,
    pub process: u32,
    /// The commit that says so: that of the run, or the one that reverts it.
    pub commit: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    #[default]
    Forward,
    /// Back to before the run.
    Undo,
}

/// What happened, or is about to happen, to a unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// From here on tofu may be changing things.
    Applying,
    /// The process that applies, written before it may begin.
    Child {
        child: ChildIdentity,
    },
    /// Tofu is done; what it made is being looked at.
    Verifying,
    /// Recorded as applied, or as gone.
    Done,
    Failed {
        code: String,
        message: String,
    },
    /// From here on tofu may be taking things back.
    Undoing,
    Undone,
    /// A person is needed.
    Stuck {
        reasons: Vec<String>,
    },
    /// A state lock that a process of this run left behind; only such a one may be taken away.
    LockLeft {
        lock: String,
    },
}

/// What to do when a unit fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Begin nothing more.
    #[default]
    Stop,
    /// Take back what this run did.
    Undo,
    /// Go on with what does not need the failed unit.
    ContinueIndependent,
}

/// How a run ended for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Everything is as agreed.
    Done,
    /// At least one unit failed.
    Failed,
    /// Asked to stop, lost its lease, or needs to ask again.
    Stopped,
    /// Everything is as before.
    Undone,
    /// A person is needed.
    Stuck,
    /// A later run took over what was left.
    Superseded,
}
