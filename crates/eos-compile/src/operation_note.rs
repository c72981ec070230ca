//! What a one-off operation does, for a person: the words it was asked for with, and what it means for data.
//!
//! It goes beside the artifacts and not into them: tofu and Salt have no use for it.

use eos_catalog::SettingType;
use eos_catalog::component::{Operation, OperationData};
use eos_pillar::OperationEntry;
use serde_json::Value as Json;

/// What the plan says of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationNote {
    /// `convert filesystem /data btrfs`
    pub words: String,
    /// None where its kind does not say.
    pub data: Option<OperationData>,
}

/// The words an operation was asked for with, arguments in the order of its kind.
pub fn words(operation: &OperationEntry, spec: &Operation) -> String {
    let mut words = vec![operation.verb.clone(), operation.kind.clone()];
    for (name, setting) in &spec.args {
        let Some(value) = operation.args.get(name).map(|node| node.to_json()) else { continue };
        let flag = format!("--{}", name.replace('_', "-"));
        let text = match value {
            Json::String(text) => text,
            other => other.to_string(),
        };
        match (setting.kind, text.as_str()) {
            _ if setting.positional => words.push(text),
            (SettingType::Bool, "true") => words.push(flag),
            (SettingType::Bool, _) | (_, "") => {}
            _ => words.extend([flag, text]),
        }
    }
    words.join(" ")
}
