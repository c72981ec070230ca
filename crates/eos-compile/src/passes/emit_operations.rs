//! One-off operations: a unit of their own, one resource each, triggered by the operation's id.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, Name, UnitId, codes, nearest::nearest};
use eos_pillar::{ComponentEntry, OperationEntry};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use crate::operation_note::{OperationNote, words};
use crate::passes::emit_tofu::{INPUTS, MAIN, eos_provider, file, identifier, terraform_block};
use crate::passes::place_units::{foreign, undeclared};
use crate::passes::resolve_names::OPERATIONS;
use crate::passes::write_units::{self, MANIFEST, PROVENANCE, pretty};
use crate::provenance::Provenance;
use crate::render::{self, Rendered};
use crate::scope::Scope;
use crate::sink;
use crate::traced::Traced;
use crate::work::{Unit, Work};

/// What is wrong with them, before anything is emitted. A host that is not there is told once, however many were on it.
pub fn check(work: &mut Work<'_>) {
    let mut found: Vec<Diagnostic> = Vec::new();
    for operation in work.input.environment.operations.values() {
        let Err(problem) = rendered(work, operation) else { continue };
        let is_known = |other: &Diagnostic| {
            other.code == codes::UNDECLARED_HOST
                && (other.code, &other.message) == (problem.code, &problem.message)
        };
        if !found.iter().any(is_known) && !work.found.0.iter().any(is_known) {
            found.push(problem);
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

pub fn run(work: &mut Work<'_>) {
    let environment = work.input.environment;
    if environment.operations.is_empty() {
        return;
    }
    let mut resources = Traced::map();
    let mut texts = BTreeMap::new();
    let mut provenance = Provenance::new();
    let mut last_on = BTreeMap::new();
    for operation in environment.operations.values() {
        match rendered(work, operation) {
            Ok((states, note)) => {
                let path = format!("salt/{}.sls", operation.id.stem());
                let (text, lines) = states.write_sls();
                provenance.add(&path, &lines);
                texts.insert(path.clone(), text);
                let connection = environment
                    .hosts
                    .get(operation.host.as_str())
                    .map(|host| host.connection.clone())
                    .unwrap_or_default();
                let key = key(&operation.id);
                let mut resource = json!({
                    "name": format!("{}/{OPERATIONS}/{}", environment.name, operation.id),
                    "target": operation.host,
                    "via": connection,
                    "sls": file(&path),
                    "trigger": operation.id,
                });
                // On one host in the order they were said: the second counts on the first.
                if let Some(previous) = last_on.insert(&operation.host, key.clone()) {
                    resource["depends_on"] = json!([format!("eos_salt_state.{previous}")]);
                }
                work.operations.insert(address(&operation.id), note);
                resources.set(key, resource);
            }
            Err(diagnostic) => work.push(diagnostic),
        }
    }
    let main = Traced::map()
        .with("terraform", terraform_block(work, OPERATIONS, Traced::map().with("eos", eos_provider())))
        .with("resource", Traced::map().with("eos_salt_state", resources));
    texts.insert(MAIN.to_owned(), main.write_json().0);
    texts.insert(INPUTS.to_owned(), "{}\n".to_owned());
    texts.insert(MANIFEST.to_owned(), pretty(&json!({"format": 1, "unit": format!("{}/{OPERATIONS}", environment.name), "kind": OPERATIONS, "compiler": crate::COMPILER})));
    texts.insert(PROVENANCE.to_owned(), provenance.finish());
    let folder = write_units::folder(work, OPERATIONS);
    work.files.extend(texts.into_iter().map(|(path, text)| (format!("{folder}/{path}"), text.into_bytes())));
}

/// The name of an operation's resource. An id starts with a digit, which a name of OpenTofu's must not.
pub fn key(id: &Name) -> String {
    format!("operation_{}", identifier(id.as_str()))
}

/// The address of an operation's resource in its unit.
pub fn address(id: &Name) -> String {
    format!("eos_salt_state.{}", key(id))
}

/// Its host states, and what they do in words.
fn rendered(work: &Work<'_>, operation: &OperationEntry) -> Result<(Traced, OperationNote), Diagnostic> {
    let environment = work.input.environment;
    let place = environment.place(&operation.node);
    let component = work
        .input
        .catalog
        .component(&operation.kind)
        .map_err(|_| work.input.catalog.unknown_kind(&operation.kind).at(place.clone()))?;
    let spec = component.operations.get(&operation.verb).ok_or_else(|| {
        let near = nearest(&operation.verb, component.operations.keys().map(String::as_str));
        Diagnostic::error(
            codes::UNKNOWN_OPERATION,
            format!("{} cannot be told to {}", operation.kind, operation.verb),
        )
        .at(place.clone())
        .fix(near.map_or_else(
            || format!("eos catalog show {}", operation.kind),
            |near| format!("did you mean {near}?"),
        ))
    })?;
    let host = environment
        .hosts
        .get(operation.host.as_str())
        .ok_or_else(|| undeclared(environment, &operation.host).at(place.clone()))?;
    if host.environment != environment.name.as_str() {
        return Err(foreign(environment, host).at(place));
    }
    let mut args: IndexMap<String, Rendered> = IndexMap::new();
    for (name, schema) in &spec.args {
        let given = operation.args.get(name);
        let value = given.map(|node| node.to_json()).or_else(|| schema.default.clone());
        let wrong = |message: String| {
            Diagnostic::error(codes::BAD_VALUE, format!("operation {}: {name}: {message}", operation.id))
                .at(given.map_or(place.clone(), |node| environment.place(node)))
        };
        let value = match value {
            Some(value) => value,
            None if schema.required => return Err(wrong("it is missing".to_owned())),
            None => Json::from(""),
        };
        if given.is_some() {
            schema.check(&value).map_err(wrong)?;
        }
        let origin =
            given.map(|node| work.written(node, format!("eos:operations:{}:args:{name}", operation.id)));
        args.insert(name.clone(), Rendered::value(&value, origin.into_iter().collect()));
    }
    // References in an operation speak of its arguments, its host and its kind's thresholds.
    let entry = ComponentEntry {
        name: operation.id.clone(),
        kind: operation.kind.clone(),
        node: operation.node.clone(),
        host: Some(operation.host.clone()),
        runtime: None,
        version: None,
        tier: None,
        cpu: None,
        memory: None,
        replicas: None,
        binary: None,
        job: None,
        created_for: None,
        features: Vec::new(),
        settings: IndexMap::new(),
        needs: IndexMap::new(),
        volumes: IndexMap::new(),
        secrets: IndexMap::new(),
    };
    let unit = Unit {
        id: UnitId { env: environment.name.clone(), name: operation.id.clone() },
        entry: &entry,
        component: std::sync::Arc::clone(&component),
        features: BTreeSet::new(),
        settings: IndexMap::new(),
        needs: IndexMap::new(),
        upstream: BTreeSet::new(),
        host: Some(host),
    };
    let scope = Scope::of_operation(work, &unit, &args);
    let bad = |problem: String| super::emit_nomad::bad_reference(work, &unit, &problem);
    let states = render::entries(&scope, spec.states.iter(), &mut sink::salt).map_err(bad)?;
    let mut data = spec.data.clone();
    if let Some(because) = data.as_mut().and_then(|data| data.because.as_mut()) {
        let said = render::text(&scope, because).and_then(|text| sink::salt(&text)).map_err(bad)?;
        *because = said.as_str().map(str::to_owned).unwrap_or_else(|| said.to_string());
    }
    Ok((states, OperationNote { words: words(operation, spec), data }))
}
