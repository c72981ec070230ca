//! The parts of `show -json` that are read. Fields that are not named here are ignored, secrets among them included.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Mode;
use crate::redact::union;

#[derive(Deserialize)]
pub(super) struct RawPlan {
    pub format_version: String,
    #[serde(default)]
    pub terraform_version: String,
    #[serde(default)]
    pub resource_changes: Vec<RawResourceChange>,
    #[serde(default)]
    pub resource_drift: Vec<RawResourceChange>,
    #[serde(default)]
    pub output_changes: BTreeMap<String, RawChange>,
    pub prior_state: Option<RawState>,
    #[serde(default)]
    pub checks: Vec<RawCheck>,
    #[serde(default)]
    pub variables: BTreeMap<String, RawVariable>,
    pub configuration: Option<RawConfiguration>,
    #[serde(default)]
    pub errored: bool,
    pub complete: Option<bool>,
    pub applyable: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct RawVariable {
    #[serde(default)]
    pub value: Value,
}

#[derive(Deserialize)]
pub(super) struct RawConfiguration {
    pub root_module: Option<RawRootConfiguration>,
}

#[derive(Deserialize)]
pub(super) struct RawRootConfiguration {
    #[serde(default)]
    pub variables: BTreeMap<String, RawVariableConfiguration>,
}

#[derive(Deserialize)]
pub(super) struct RawVariableConfiguration {
    #[serde(default)]
    pub sensitive: bool,
}

#[derive(Deserialize)]
pub(super) struct RawResourceChange {
    pub address: String,
    pub previous_address: Option<String>,
    #[serde(default)]
    pub mode: Mode,
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub provider_name: String,
    pub deposed: Option<String>,
    pub change: RawChange,
    pub action_reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct RawChange {
    #[serde(default)]
    pub actions: Vec<String>,
    #[serde(default)]
    pub before: Value,
    #[serde(default)]
    pub after: Value,
    #[serde(default)]
    pub after_unknown: Value,
    pub before_sensitive: Option<Value>,
    pub after_sensitive: Option<Value>,
    #[serde(default)]
    pub replace_paths: Vec<Vec<Value>>,
    pub importing: Option<RawImporting>,
}

#[derive(Deserialize)]
pub(super) struct RawImporting {
    pub id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct RawState {
    pub values: Option<RawValues>,
}

#[derive(Deserialize)]
pub(super) struct RawValues {
    pub root_module: Option<RawModule>,
}

#[derive(Deserialize)]
pub(super) struct RawModule {
    #[serde(default)]
    pub resources: Vec<RawResource>,
    #[serde(default)]
    pub child_modules: Vec<RawModule>,
}

#[derive(Deserialize)]
pub(super) struct RawResource {
    pub address: String,
    #[serde(default)]
    pub mode: Mode,
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub provider_name: String,
    #[serde(default)]
    pub tainted: bool,
    pub deposed_key: Option<String>,
    #[serde(default)]
    pub values: Value,
    pub sensitive_values: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct RawCheck {
    pub address: RawCheckAddress,
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub instances: Vec<RawCheckInstance>,
}

#[derive(Deserialize)]
pub(super) struct RawCheckAddress {
    #[serde(default)]
    pub to_display: String,
}

#[derive(Deserialize)]
pub(super) struct RawCheckInstance {
    #[serde(default)]
    pub problems: Vec<RawProblem>,
}

#[derive(Deserialize)]
pub(super) struct RawProblem {
    #[serde(default)]
    pub message: String,
}

impl RawState {
    pub fn root(self) -> Option<RawModule> {
        self.values?.root_module
    }
}

impl RawChange {
    /// What is sensitive before or after.
    pub fn mask(&self) -> Value {
        union(self.before_sensitive.as_ref(), self.after_sensitive.as_ref())
    }
}
