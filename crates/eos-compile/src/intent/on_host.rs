//! What an operation is told to act on, held against what the estate makes on that host. A host may well have more than
//! eos made, so an unknown name is no mistake; but a person should hear of it before it is recorded.

use eos_catalog::component::{ActsOn, Component};
use eos_model::{Diagnostic, EnvName, codes, nearest::nearest};
use eos_pillar::Environment;
use serde_json::Value as Json;

use super::request::{OperationRequest, PlannedEntry};
use crate::Files;
use crate::passes::resolve_names::OPERATIONS;
use crate::passes::write_units::MANIFEST;

/// As many are listed where none is near.
const MOST_LISTED: usize = 5;

/// A warning for each thing that an operation names and that nothing compiled makes on its host.
pub fn unknown_on_host(
    component: &Component,
    env: &EnvName,
    files: &Files,
    operation: &PlannedEntry,
) -> Vec<Diagnostic> {
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let (verb, host) = (text(&operation.entry["verb"]), text(&operation.entry["host"]));
    let acts_on = component.operations.get(&verb).map(|operation| &operation.acts_on);
    let mut found = Vec::new();
    for (arg, ActsOn { what, made_by }) in acts_on.into_iter().flatten() {
        let name = text(&operation.entry["args"][arg]);
        let known = made(env, files, &host, made_by);
        if name.is_empty() || known.iter().any(|known| is_same(known, &name)) {
            continue;
        }
        let fix = match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near}?"),
            None if known.is_empty() => {
                format!("go on if {name} was made without eos; eos makes no {what} on {host}")
            }
            None => {
                let listed = known[..known.len().min(MOST_LISTED)].join(", ");
                let more = known.len().saturating_sub(MOST_LISTED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("go on if {name} was made without eos; eos makes {listed}{more} on {host}")
            }
        };
        let message = format!("eos knows no {what} {name} on host {host}");
        let why = "nothing in the pillar makes it: the host is asked when this is applied, and it fails there if it has none";
        found.push(Diagnostic::warning(codes::UNKNOWN_NAME, message).why(why).fix(fix));
    }
    found
}

/// A warning where an operation is about parts of something that the environment has none of. It may be there without eos.
pub fn belongs_to_nothing(
    component: &Component,
    environment: &Environment,
    request: &OperationRequest,
) -> Option<Diagnostic> {
    let whole = component.operations.get(&request.verb)?.belongs_to.as_ref()?;
    if environment.components.values().any(|entry| entry.kind == *whole) {
        return None;
    }
    let (verb, kind) = (&request.verb, &request.kind);
    let message = format!("{} has no {whole} that {verb} {kind} could be about", environment.name);
    let why = "it acts on what is on the hosts without eos, and where nothing is it does nothing";
    let fix = format!("go on if there is a {whole} that eos did not make; else eos create {whole} first");
    Some(Diagnostic::warning(codes::UNKNOWN_NAME, message).why(why).fix(fix))
}

/// A folder is the same with and without a slash behind it.
fn is_same(known: &str, name: &str) -> bool {
    known == name || (name.len() > 1 && known == name.trim_end_matches('/'))
}

/// Names that a state of Salt's is told by the units of a host.
fn made(env: &EnvName, files: &Files, host: &str, function: &str) -> Vec<String> {
    let prefix = format!("build/{env}/");
    let mut names = Vec::new();
    for (path, bytes) in files.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix)) {
        let Some((unit, file)) = path[prefix.len()..].split_once('/') else { continue };
        let is_states = file.starts_with("salt/") && file.ends_with(".sls");
        if !is_states || unit == OPERATIONS || !is_on(files, &format!("{prefix}{unit}/{MANIFEST}"), host) {
            continue;
        }
        let Ok(document) = eos_yaml::parse(path.as_str().into(), bytes) else { continue };
        names.extend(named(&document.root.to_json(), function));
    }
    names.sort();
    names.dedup();
    names
}

fn is_on(files: &Files, manifest: &str, host: &str) -> bool {
    let manifest: Json =
        files.get(manifest).and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
    manifest["host"].as_str().is_none_or(|on| on == host)
}

/// `name` or `names` of each state of a function, or the state's own id.
fn named(states: &Json, function: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (id, state) in states.as_object().into_iter().flatten() {
        let Some(arguments) = state.get(function).and_then(Json::as_array) else { continue };
        let value = |key: &str| arguments.iter().find_map(|argument| argument.get(key));
        let one = value("name").and_then(Json::as_str);
        let several = value("names").and_then(Json::as_array);
        match (one, several) {
            (Some(name), _) => found.push(name.to_owned()),
            (None, Some(names)) => found.extend(names.iter().filter_map(Json::as_str).map(str::to_owned)),
            (None, None) => found.push(id.clone()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn states_are_named_by_name_names_or_their_id() {
        let states = json!({
            "a": {"lvm.lv_present": [{"name": "one"}, {"size": "1G"}]},
            "b": {"lvm.lv_present": [{"names": ["two", "three"]}]},
            "four": {"lvm.lv_present": [{"size": "1G"}]},
            "c": {"mount.mounted": [{"name": "/data"}]},
        });
        assert_eq!(named(&states, "lvm.lv_present"), ["one", "two", "three", "four"]);
        assert_eq!(named(&states, "mount.mounted"), ["/data"]);
    }

    #[test]
    fn only_what_is_made_on_that_host_is_known() {
        let sls = |name: &str| format!("#!yaml\nx:\n  lvm.lv_present:\n    - name: {name}\n").into_bytes();
        let manifest = |host: &str| format!("{{\"host\": \"{host}\"}}").into_bytes();
        let files = Files::from([
            ("build/test/db/manifest.json".to_owned(), manifest("one")),
            ("build/test/db/salt/host.sls".to_owned(), sls("books")),
            ("build/test/web/manifest.json".to_owned(), manifest("two")),
            ("build/test/web/salt/host.sls".to_owned(), sls("pages")),
            ("build/test2/web/salt/host.sls".to_owned(), sls("others")),
        ]);
        let env = "test".parse().unwrap();
        assert_eq!(made(&env, &files, "one", "lvm.lv_present"), ["books"]);
        assert_eq!(made(&env, &files, "two", "lvm.lv_present"), ["pages"]);
        assert!(is_same("/data", "/data/") && is_same("/", "/") && !is_same("/data", "/dat"));
    }
}
