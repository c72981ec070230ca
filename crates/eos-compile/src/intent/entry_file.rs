//! The pillar files eos writes: one a name, recognised by being exactly what eos would write.

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{EnvName, HostName, Name};
use serde_json::{Value as Json, json};

/// How every file of eos's begins. `#!yaml` keeps Salt from taking braces in values for Jinja.
pub const HEADER: &str = "#!yaml\n# Written by eos. Change it with eos; with comments or in another form it is yours, and eos leaves it alone.\n";

pub fn component_path(env: &EnvName, name: &Name) -> Utf8PathBuf {
    Utf8Path::new("pillar/infrastructure").join(env.as_str()).join(format!("{}.sls", name.stem()))
}

pub fn host_path(name: &HostName) -> Utf8PathBuf {
    Utf8Path::new("pillar/hosts").join(format!("{}.sls", name.stem()))
}

pub fn operation_path(env: &EnvName, id: &Name) -> Utf8PathBuf {
    Utf8Path::new("pillar/operations").join(env.as_str()).join(format!("{}.sls", id.stem()))
}

/// The text of a file with one entry in a section: components, hosts or operations.
pub fn entry_text(section: &str, name: &str, entry: &Json) -> String {
    format!("{HEADER}{}", eos_yaml::write(&json!({"eos": {section: {name: entry}}})))
}

/// Whether a file is as eos wrote it. An edited one is somebody's work and is not written over, nor is one with another name
/// inside: that would be gone.
pub fn ours(path: &Utf8Path, bytes: &[u8]) -> bool {
    let Ok(document) = eos_yaml::parse(path, bytes) else { return false };
    let json = document.root.to_json();
    let stem = only_name(&json).and_then(|name| Some(name.parse::<Name>().ok()?.stem()));
    stem.as_deref() == path.file_stem() && format!("{HEADER}{}", eos_yaml::write(&json)).as_bytes() == bytes
}

/// The name of the one entry that a file holds.
fn only_name(root: &Json) -> Option<&str> {
    let only = |json: &'_ Json| json.as_object().filter(|entries| entries.len() == 1).is_some();
    let section = Some(root).filter(|root| only(root))?.get("eos").filter(|eos| only(eos))?;
    let entries = section.as_object()?.values().next().filter(|entries| only(entries))?;
    entries.as_object()?.keys().next().map(String::as_str)
}
