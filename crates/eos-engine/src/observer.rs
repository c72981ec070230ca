//! Who watches a run, and who says whether what was applied works. Both are given by the caller.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Name};
use eos_store::lease::LeaseStatus;
use serde_json::Value as Json;

use crate::record::{Goal, Record};
use crate::run_id::RunId;
use crate::unit::Unit;

/// Something that happened in a run. Events of different units come from different threads.
#[derive(Debug)]
pub enum Progress<'a> {
    /// Tofu plans the unit.
    Planning {
        unit: &'a Name,
    },
    /// It needed no plan, had nothing to do, or has changes.
    Planned {
        unit: &'a Name,
        changes: usize,
    },
    /// The run has its name and its units, in order.
    Began {
        run: &'a RunId,
        units: &'a [Name],
    },
    /// Somebody else holds the unit's lease.
    WaitingForLease {
        holder: &'a LeaseStatus,
    },
    /// Another eos plans the unit in this estate; nobody knows which where `process` is empty.
    WaitingForPlan {
        unit: &'a Name,
        process: &'a str,
    },
    /// A tofu of a killed run still applies; it is waited for.
    WaitingForChild {
        unit: &'a Name,
        pid: i32,
    },
    Applying {
        unit: &'a Name,
        goal: Goal,
    },
    /// What tofu says while it plans or applies.
    Tofu {
        unit: &'a Name,
        event: &'a eos_tofu::Event,
    },
    Verifying {
        unit: &'a Name,
    },
    Done {
        unit: &'a Name,
    },
    Failed {
        unit: &'a Name,
        problem: &'a Diagnostic,
    },
    Undoing {
        unit: &'a Name,
    },
    Undone {
        unit: &'a Name,
    },
    Stuck {
        unit: &'a Name,
        reasons: &'a [String],
    },
    /// A record is on the disk; its number counts from zero.
    Journaled {
        number: u32,
        record: &'a Record,
    },
}

pub trait Observer: Sync {
    fn on(&self, progress: &Progress<'_>);
}

/// Jobs that were seen to work, with their version.
pub type Seen = BTreeMap<String, u64>;

/// Whether an applied unit works. Called after tofu has applied it; may wait.
pub trait Health: Sync {
    /// Where somebody said stop, or Nomad does not tell, nothing is known against it: `STOPPED` and `NOMAD` say so.
    fn check(&self, unit: &Unit, inputs: &BTreeMap<String, Json>) -> Result<Seen, Diagnostic>;
}

/// Watches nothing.
pub struct Unwatched;

impl Observer for Unwatched {
    fn on(&self, _: &Progress<'_>) {}
}

/// Takes tofu's word for it.
pub struct Trusting;

impl Health for Trusting {
    fn check(&self, _: &Unit, _: &BTreeMap<String, Json>) -> Result<Seen, Diagnostic> {
        Ok(Seen::new())
    }
}
