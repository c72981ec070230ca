//! What a plan is asked for, and what its exit and event stream say before anything is shown.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::{Action, ChangeCounts, EventOutput, ToolDiagnostic};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// Where the plan goes: an absolute path; its folder must exist.
    pub out: Utf8PathBuf,
    pub destroy: bool,
    pub refresh: Refresh,
    /// Addresses to replace though nothing changed.
    pub replace: Vec<String>,
    /// Addresses to plan for, with what they need; all when empty.
    pub targets: Vec<String>,
    /// How long to wait for somebody else's state lock.
    pub lock_timeout: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Refresh {
    /// Look at the real objects first.
    #[default]
    Yes,
    /// Trust the state.
    No,
    /// Only look, and plan to record what was seen.
    Only,
}

/// A finished plan, as told by its exit code and stream; `show_plan` tells the values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Planned {
    /// False means exit code 0: there is nothing to apply, nor any need to show it.
    pub changes: bool,
    /// Address and action of every planned change, in tofu's order.
    pub planned: Vec<(String, Action)>,
    /// What changed outside of tofu.
    pub drift: Vec<(String, Action)>,
    /// Outputs that change, without their values.
    pub outputs: BTreeMap<String, EventOutput>,
    pub counts: ChangeCounts,
    pub warnings: Vec<ToolDiagnostic>,
}
