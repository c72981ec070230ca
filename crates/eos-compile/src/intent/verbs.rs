//! The verbs: create, update and delete a component, declare a host.

use eos_model::{Diagnostic, Diagnostics, Name, codes, nearest::nearest};
use eos_pillar::Environment;
use eos_pillar::entry::NeedChoice;
use serde_json::{Map, Value as Json, json};

use super::complete::{Completer, object};
use super::request::{HostRequest, Planned, Request};
use crate::work::Input;

/// A new component, with everything it pulls in.
pub fn create(input: &Input<'_>, request: &Request) -> Result<Planned, Diagnostics> {
    let environment = input.environment;
    let name: Name = request.name.parse().map_err(Diagnostic::from)?;
    if let Some(entry) = environment.components.get(&name) {
        // What was made for somebody else becomes the person's own when they ask for it.
        if entry.created_for.is_some() && entry.kind == request.kind {
            let mut planned = update(input, request)?;
            planned.notes.insert(
                0,
                format!(
                    "{name} was there already, made for {}; it is now one you asked for",
                    entry.created_for.as_deref().unwrap_or_default()
                ),
            );
            return Ok(planned);
        }
        return Err(Diagnostic::error(
            codes::NAME_TAKEN,
            format!("{} has a {} named {name} already", environment.name, entry.kind),
        )
        .at(environment.place(&entry.node))
        .fix(format!(
            "eos update {name} changes it; eos create {} <another name> makes a second one",
            request.kind
        ))
        .into());
    }
    let mut completer = Completer::new(input, &request.kept);
    let entry = apply(Map::new(), request);
    completer.complete(&request.name, &request.kind, entry, request, None);
    completer.finish()
}

/// A component changed; what was chosen before stays.
pub fn update(input: &Input<'_>, request: &Request) -> Result<Planned, Diagnostics> {
    let environment = input.environment;
    let before = find(environment, &request.name)?;
    let mut found = Diagnostics::new();
    let component = input.catalog.component(&before.kind)?;
    for (name, value) in &request.settings {
        let fixed = component.settings.get(name).is_some_and(|setting| setting.fixed);
        if fixed && before.settings.get(name).is_none_or(|node| node.to_json() != *value) {
            found.push(
                Diagnostic::error(
                    codes::FIXED_CHOICE,
                    format!("{name} of {} cannot be changed after creation", before.name),
                )
                .at(environment.place(before.settings.get(name).unwrap_or(&before.node)))
                .fix("create another one beside it, move the data, delete the old one"),
            );
        }
    }
    for name in request.secrets.iter().filter(|name| component.settings.get(*name).is_some_and(|s| s.fixed)) {
        found.push(fixed_secret(before, name).at(environment.place(&before.node)));
    }
    let moves = request
        .common
        .get("host")
        .and_then(Json::as_str)
        .is_some_and(|host| before.host.as_deref() != Some(host));
    if moves && !before.volumes.is_empty() {
        found.push(
            Diagnostic::error(
                codes::FIXED_CHOICE,
                format!(
                    "{} keeps data on host {} and cannot simply move",
                    before.name,
                    before.host.as_deref().unwrap_or("?")
                ),
            )
            .why("its new host would start with empty volumes")
            .fix("create another one there, move the data, delete the old one"),
        );
    }
    if found.has_errors() {
        return Err(found);
    }
    let mut entry = before.node.to_json().as_object().cloned().unwrap_or_default();
    entry.shift_remove("created_for");
    let mut completer = Completer::new(input, &request.kept);
    let kind = before.kind.clone();
    completer.complete(before.name.as_str(), &kind, apply(entry, request), request, None);
    completer.finish()
}

/// The message about a secret that opens data and cannot be changed.
pub fn fixed_secret(entry: &eos_pillar::ComponentEntry, key: &str) -> Diagnostic {
    Diagnostic::error(
        codes::FIXED_CHOICE,
        format!("{key} of {} cannot be changed after creation", entry.name),
    )
    .why("what was written with the old one could not be read with a new one")
    .fix(format!("create another {} beside it, move the data, delete the old one", entry.kind))
}

/// Puts what was said into an entry.
fn apply(mut entry: Map<String, Json>, request: &Request) -> Map<String, Json> {
    for (key, value) in &request.common {
        entry.insert(key.clone(), value.clone());
    }
    for (key, value) in &request.settings {
        object(&mut entry, "settings").insert(key.clone(), value.clone());
    }
    let mut features: Vec<String> = entry
        .get("features")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .map(str::to_owned)
        .collect();
    features.extend(request.features.iter().cloned());
    features.retain(|feature| !request.without.contains(feature));
    features.sort();
    features.dedup();
    entry.insert("features".to_owned(), json!(features));
    entry
}

fn find<'e>(environment: &'e Environment, name: &str) -> Result<&'e eos_pillar::ComponentEntry, Diagnostic> {
    environment.components.get(name).ok_or_else(|| unknown_name(environment, name))
}

/// The message about a name nobody has.
pub fn unknown_name(environment: &Environment, name: &str) -> Diagnostic {
    let near = nearest(name, environment.components.keys().map(|name| name.as_str()));
    let fix = match near {
        _ if environment.hosts.contains_key(name) => {
            format!("it is a host: eos list hosts, eos update host {name}, eos delete host {name}")
        }
        Some(near) => format!("did you mean {near}? eos list shows all"),
        None => "eos list shows the names there are".to_owned(),
    };
    Diagnostic::error(codes::UNKNOWN_NAME, format!("{} has nothing named {name:?}", environment.name))
        .fix(fix)
}

/// What was made for a name that goes, and that nothing else needs.
pub fn left_behind(environment: &Environment, name: &str) -> Vec<Name> {
    let needed_by_others = |candidate: &Name| {
        environment
            .components
            .values()
            .filter(|other| other.name.as_str() != name)
            .any(|other| needs(other, candidate))
    };
    let made_for = |entry: &&eos_pillar::ComponentEntry| {
        entry.created_for.as_deref() == Some(name) && !needed_by_others(&entry.name)
    };
    environment.components.values().filter(made_for).map(|entry| entry.name.clone()).collect()
}

fn needs(entry: &eos_pillar::ComponentEntry, provider: &Name) -> bool {
    entry.needs.values().any(|choice| match choice {
        NeedChoice::One(name) => name == provider,
        NeedChoice::Each(choices) => choices.values().any(|name| name == provider),
    })
}

/// The names that stand in the way of deleting one.
pub fn delete(environment: &Environment, name: &str) -> Result<(), Diagnostics> {
    let entry = find(environment, name)?;
    let dependents: Vec<&str> = environment
        .components
        .values()
        .filter(|other| needs(other, &entry.name))
        .map(|other| other.name.as_str())
        .collect();
    if dependents.is_empty() {
        return Ok(());
    }
    let first = &environment.components[dependents[0]];
    let meets = |choice: &NeedChoice| matches!(choice, NeedChoice::One(provider) if *provider == entry.name);
    let need = first
        .needs
        .iter()
        .find(|(_, choice)| meets(choice))
        .map_or("<need>".to_owned(), |(need, _)| need.replace('_', "-"));
    Err(Diagnostic::error(codes::STILL_NEEDED, format!("{name} is needed by {}", dependents.join(", ")))
        .at(environment.place(&entry.node))
        .why("they would lose what they work with")
        .fix(format!(
            "delete {} first, or let them use another: eos update {} --{} <name>",
            dependents.join(", "),
            dependents[0],
            need
        ))
        .into())
}

/// The entry of a host.
pub fn host_entry(environment: &Environment, request: &HostRequest) -> Json {
    let mut entry = json!({
        "environment": environment.name,
        "address": request.address,
        "connection": request.connection,
        "nomad_node": request.nomad_node,
    });
    if let Some(group) = &request.volume_group {
        entry["volume_group"] = Json::from(group.as_str());
    }
    if let Some(folder) = &request.data_folder {
        entry["data_folder"] = Json::from(folder.as_str());
    }
    entry
}

/// A host nobody declared yet.
pub fn host(environment: &Environment, request: &HostRequest) -> Result<Json, Diagnostics> {
    if let Some(entry) = environment.hosts.get(&request.name) {
        return Err(Diagnostic::error(
            codes::NAME_TAKEN,
            format!("host {} is declared already, in {}", request.name, entry.environment),
        )
        .at(environment.place(&entry.node))
        .fix(if entry.environment == environment.name.as_str() {
            format!("eos update host {} changes it", request.name)
        } else {
            format!(
                "a machine of two environments has a name in each: eos create host {}-{}",
                request.name, environment.name
            )
        })
        .into());
    }
    Ok(host_entry(environment, request))
}
