//! What taking a run back does to the pillar, entry by entry: what a person recorded must not go by surprise.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use eos_compile::intent::{component_path, operation_path};
use eos_model::{EnvName, Name};
use eos_pillar::history::Recorded;
use eos_pillar::{Change, ComponentEntry, Environment};
use serde::Serialize;
use serde_json::Value as Json;

use crate::in_clear;
use crate::loaded::Loaded;
use crate::views::wrap::below;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Becomes {
    Gone,
    Changed,
    Back,
}

/// One entry of the pillar that is otherwise afterwards.
#[derive(Debug, Serialize)]
struct EntryBack {
    name: String,
    #[serde(skip)]
    is_operation: bool,
    becomes: Becomes,
    /// Where it goes and its data stays: the pillar remembers where that is.
    remembered: bool,
    /// The commit it was recorded by as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Recorded>,
    fields: BTreeMap<String, FieldBack>,
}

#[derive(Debug, Serialize)]
struct FieldBack {
    now: Option<Json>,
    then: Option<Json>,
}

/// All of them, and the secrets that go with them.
#[derive(Debug, Default, Serialize)]
pub struct EntriesBack {
    entries: Vec<EntryBack>,
    secrets_gone: Vec<String>,
}

impl EntriesBack {
    /// What a change does to the entries of an environment. A pillar that cannot be read lists its files instead.
    pub fn of(loaded: &Loaded, env: &EnvName, change: &Change) -> EntriesBack {
        let secret = |path: &Utf8PathBuf, after: &Option<Vec<u8>>| {
            (after.is_none() && path.starts_with(eos_secrets::FOLDER)).then(|| path.to_string())
        };
        let secrets_gone = change.files.iter().filter_map(|(path, after)| secret(path, after)).collect();
        let (Ok(now), Ok(then)) = (loaded.environment(env), loaded.tree.with(change).environment(env)) else {
            let paths = change.files.iter().filter(|(path, _)| path.starts_with("pillar"));
            let entries = paths.map(|(path, after)| EntryBack {
                name: path.to_string(),
                is_operation: false,
                becomes: if after.is_none() { Becomes::Gone } else { Becomes::Changed },
                remembered: false,
                recorded: last_change(loaded, path.clone()),
                fields: BTreeMap::new(),
            });
            return EntriesBack { entries: entries.collect(), secrets_gone };
        };
        let mut entries = components(loaded, &now, &then);
        let differs = |id: &&Name| now.operations.contains_key(*id) != then.operations.contains_key(*id);
        let ids: BTreeSet<&Name> =
            now.operations.keys().chain(then.operations.keys()).filter(differs).collect();
        entries.extend(ids.into_iter().map(|id| EntryBack {
            name: format!("operation {id}"),
            is_operation: true,
            becomes: if now.operations.contains_key(id) { Becomes::Gone } else { Becomes::Back },
            remembered: false,
            recorded: last_change(loaded, operation_path(env, id)),
            fields: BTreeMap::new(),
        }));
        EntriesBack { entries, secrets_gone }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.secrets_gone.is_empty()
    }

    /// Something that is asked for now is not afterwards, or otherwise.
    pub fn takes_away(&self) -> bool {
        !self.secrets_gone.is_empty() || self.entries.iter().any(|entry| entry.becomes != Becomes::Back)
    }

    pub fn text(&self, width: usize) -> String {
        if self.is_empty() {
            return "The pillar stays as it is.\n".to_owned();
        }
        let mut text = "In the pillar:\n".to_owned();
        for entry in &self.entries {
            let name = &entry.name;
            let what = match entry.becomes {
                Becomes::Gone if entry.remembered => {
                    format!("{name} is no longer asked for; where its data is stays written down")
                }
                Becomes::Gone => format!("{name} is no longer asked for"),
                Becomes::Changed => format!("{name} is asked for as it was"),
                Becomes::Back if entry.is_operation => {
                    format!("{name} is asked for again; where it was done it is not done a second time")
                }
                Becomes::Back => format!("{name} is asked for again"),
            };
            text.push_str(&below("  ", "  ", &what, width, 4));
            if entry.becomes != Becomes::Back {
                for (field, FieldBack { now, then }) in &entry.fields {
                    let line = match entry.becomes {
                        Becomes::Gone => format!("{field}: {}", shown(now.as_ref())),
                        _ => format!("{field}: {} becomes {}", shown(now.as_ref()), shown(then.as_ref())),
                    };
                    text.push_str(&below("    ", "    ", &line, width, 6));
                }
                if let Some(by) = &entry.recorded {
                    let did = by.command.as_deref().unwrap_or(&by.subject);
                    let line = format!("recorded by {}: {did}", &by.commit[..10]);
                    text.push_str(&below("    ", "    ", &line, width, 6));
                }
            }
        }
        for path in &self.secrets_gone {
            text.push_str(&below("  ", "  ", &format!("{path} goes"), width, 4));
        }
        text
    }
}

/// How what went out of the pillar comes back into it, and is applied; `before` is the commit that asked for it last.
pub fn way_back(before: &str) -> String {
    let before = before.get(..10).unwrap_or(before);
    format!("To ask once more for what went out of the pillar, and apply it: eos rollback {before}.")
}

fn components(loaded: &Loaded, now: &Environment, then: &Environment) -> Vec<EntryBack> {
    let names: BTreeSet<&Name> = now.components.keys().chain(then.components.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let (before, after) = (now.components.get(name), then.components.get(name));
        let becomes = match (before, after) {
            (Some(_), None) => Becomes::Gone,
            (None, Some(_)) => Becomes::Back,
            _ => Becomes::Changed,
        };
        let (mut is, mut was) = (flat(loaded, before), flat(loaded, after));
        let keys: BTreeSet<String> = is.keys().chain(was.keys()).cloned().collect();
        let field = |key: String| (key.clone(), FieldBack { now: is.remove(&key), then: was.remove(&key) });
        let mut fields: BTreeMap<String, FieldBack> = keys.into_iter().map(field).collect();
        fields.retain(|_, field| field.now != field.then);
        if fields.is_empty() {
            continue;
        }
        let written = before.and_then(|entry| now.sources.file(entry.node.file).map(ToOwned::to_owned));
        found.push(EntryBack {
            name: name.to_string(),
            is_operation: false,
            becomes,
            remembered: becomes == Becomes::Gone && then.kept.contains_key(name),
            recorded: last_change(loaded, written.unwrap_or_else(|| component_path(&now.name, name))),
            fields,
        });
    }
    found
}

/// An entry's fields, each setting one of its own; nothing secret in clear.
fn flat(loaded: &Loaded, entry: Option<&ComponentEntry>) -> BTreeMap<String, Json> {
    let Some(entry) = entry else { return BTreeMap::new() };
    let mut document = entry.node.to_json();
    in_clear::hide(&loaded.catalog, &mut document);
    let Json::Object(document) = document else { return BTreeMap::new() };
    let mut fields = BTreeMap::new();
    for (key, value) in document {
        match value {
            Json::Object(parts) if !parts.is_empty() => {
                // A setting is known by its own name.
                let head = if key == "settings" { String::new() } else { format!("{key}.") };
                fields.extend(parts.into_iter().map(|(part, value)| (format!("{head}{part}"), value)));
            }
            value => {
                fields.insert(key, value);
            }
        }
    }
    fields
}

fn last_change(loaded: &Loaded, path: Utf8PathBuf) -> Option<Recorded> {
    loaded.estate.git.history(&[path], 1).ok()?.into_iter().next()
}

fn shown(value: Option<&Json>) -> String {
    match value {
        None => "the default".to_owned(),
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
