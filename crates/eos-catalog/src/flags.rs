//! The flags that a component's words become, and the words that are taken already.
//!
//! A word that is taken would make two flags of one name, and the command could not be built at all.

use std::collections::BTreeSet;

use crate::component::Component;

/// Flags of every command that changes something. A test of the binary holds this against its real commands.
pub const OF_COMMANDS: &[&str] = &[
    "because",
    "destroy-data",
    "directory",
    "dry-run",
    "env",
    "help",
    "host",
    "json",
    "looked-after",
    "new-state",
    "no-apply",
    "on-failure",
    "preserve-data",
    "yes",
];

/// Flags that components have besides: where and how each runs, and what takes a choice back.
pub const OF_COMPONENTS: &[&str] =
    &["binary", "cpu", "memory", "replicas", "runtime", "tier", "unset", "version"];

/// The flag of a setting, need or feature.
pub fn flag(name: &str) -> String {
    name.replace('_', "-")
}

/// What is wrong with the flags of a component: settings, needs and features, also those that a feature adds.
pub fn problems(component: &Component) -> Vec<String> {
    let features = || component.features.iter().filter(|(_, feature)| feature.when.is_none());
    let names =
        component.settings.keys().chain(component.needs.keys()).chain(features().map(|(name, _)| name));
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let with_flags = names.map(|name| (name, flag(name)));
    // What turns a feature off again.
    let off = features().map(|(name, _)| (name, format!("no-{}", flag(name))));
    for (name, flag) in with_flags.chain(off) {
        if !is_word(name) {
            found.push(format!("{name:?} cannot be a flag: lower-case letters, digits, - and _ can"));
        }
        if OF_COMMANDS.contains(&flag.as_str()) || OF_COMPONENTS.contains(&flag.as_str()) {
            found.push(format!("{name:?} is taken: --{flag} means something for every component"));
        }
        if seen.contains(&flag) {
            found.push(format!("{name:?} would be a flag twice: settings, needs and features have one each"));
        }
        seen.insert(flag);
    }
    found.dedup();
    for (verb, operation) in &component.operations {
        for name in operation.args.keys() {
            let flag = flag(name);
            if !is_word(name) || OF_COMMANDS.contains(&flag.as_str()) {
                found.push(format!("operation {verb}: {name:?} is taken or cannot be a flag"));
            }
        }
    }
    found
}

fn is_word(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
}
