//! A saved plan as typed Rust. Every value in here is already redacted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Action, Mode};
use crate::{Path, Shown};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    pub format_version: String,
    pub tool_version: String,
    /// Every change, no-ops too, in tofu's order.
    pub resource_changes: Vec<ResourceChange>,
    /// What was seen to differ from the state.
    pub resource_drift: Vec<ResourceChange>,
    pub output_changes: BTreeMap<String, OutputChange>,
    /// The objects recorded before this plan.
    pub prior_resources: Vec<PriorResource>,
    pub checks: Vec<Check>,
    /// Planning failed half-way; such a plan must not be applied.
    pub errored: bool,
    /// False when another plan is needed after this one; tofu without the field says true.
    pub complete: bool,
    /// Whether applying it would do anything.
    pub applyable: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResourceChange {
    pub address: String,
    /// Where it was before a move.
    pub previous_address: Option<String>,
    pub mode: Mode,
    pub kind: String,
    pub name: String,
    pub provider: String,
    /// Set for an old object that is to be destroyed beside the current one.
    pub deposed: Option<String>,
    pub action: Action,
    /// Tofu's word for why: `replace_because_tainted`, `delete_because_no_resource_config`.
    pub reason: Option<String>,
    pub before: Shown,
    pub after: Shown,
    /// Attributes that differ, sensitive ones too (without their values).
    pub attributes: Vec<AttributeChange>,
    pub replace_paths: Vec<Path>,
    /// The id under which an existing object is taken over.
    pub importing: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeChange {
    pub path: Path,
    pub before: Shown,
    pub after: Shown,
    pub forces_replacement: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputChange {
    pub action: Action,
    pub before: Shown,
    pub after: Shown,
    pub sensitive: bool,
}

/// An object of the state before the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PriorResource {
    pub address: String,
    pub mode: Mode,
    pub kind: String,
    pub name: String,
    pub provider: String,
    pub tainted: bool,
    pub deposed: Option<String>,
    pub values: Shown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub address: String,
    pub status: CheckStatus,
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    Pass,
    Fail,
    Error,
    Unknown,
}
