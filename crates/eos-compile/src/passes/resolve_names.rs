//! Every entry becomes a unit: its kind is found, its settings are held against the schema.

use std::collections::BTreeSet;

use eos_catalog::password_in_address::PASSWORD_IN_ADDRESS;
use eos_catalog::{Component, Setting, SettingType};
use eos_model::{Diagnostic, Place, UnitId, codes, nearest::nearest};
use eos_pillar::ComponentEntry;
use eos_yaml::Node;
use indexmap::IndexMap;

use crate::origin::Origin;
use crate::work::{SettingValue, Unit, Work};

/// A unit of this name holds one-off operations.
pub const OPERATIONS: &str = "operations";

pub fn run(work: &mut Work<'_>) {
    let environment = work.input.environment;
    for (name, entry) in &environment.components {
        if name.as_str() == OPERATIONS {
            let place = work.place(&entry.node);
            work.push(
                Diagnostic::error(codes::BAD_NAME, "\"operations\" is a name eos uses itself")
                    .at(place)
                    .fix("give it another name"),
            );
            continue;
        }
        // A feature may bring settings of its own, so what a flag turned on counts already.
        let given = entry.features.iter().cloned().collect();
        let component = match work.input.catalog.variant(&entry.kind, entry.runtime.as_deref(), &given) {
            Ok(component) => component,
            Err(found) => {
                let place = work.place(&entry.node);
                work.found.0.extend(found.0.into_iter().map(|diagnostic| {
                    if diagnostic.place.is_some() { diagnostic } else { diagnostic.at(place.clone()) }
                }));
                continue;
            }
        };
        let found_before = work.found.0.len();
        check_words(work, entry, &component);
        let settings = settings(work, entry, &component);
        if work.found.0.len() > found_before {
            work.unsound.insert(name.clone());
        }
        work.units.insert(
            name.clone(),
            Unit {
                id: UnitId { env: environment.name.clone(), name: name.clone() },
                entry,
                component,
                features: entry.features.iter().cloned().collect(),
                settings,
                needs: IndexMap::new(),
                upstream: BTreeSet::new(),
                host: None,
            },
        );
    }
}

/// Features, runtime and tier must be words the component knows.
fn check_words(work: &mut Work<'_>, entry: &ComponentEntry, component: &Component) {
    let place = |field: &str| work.place(entry.node.get(field).unwrap_or(&entry.node));
    let mut found = Vec::new();
    for feature in &entry.features {
        if component.features.get(feature).is_none_or(|feature| feature.when.is_some()) {
            let known: Vec<&str> = component
                .features
                .iter()
                .filter(|(_, f)| f.when.is_none())
                .map(|(name, _)| name.as_str())
                .collect();
            found.push(
                Diagnostic::error(
                    codes::UNKNOWN_FEATURE,
                    format!("{} has no feature {feature:?}", entry.kind),
                )
                .at(place("features"))
                .fix(hint(feature, &known)),
            );
        }
    }
    let runtimes: Vec<&str> = eos_catalog::check::runtimes(component).into_iter().flatten().collect();
    match entry.runtime.as_deref() {
        Some(runtime) if !runtimes.contains(&runtime) => found.push(
            Diagnostic::error(codes::NO_RUNTIME, format!("{} does not run as {runtime:?}", entry.kind))
                .at(place("runtime"))
                .fix(hint(runtime, &runtimes)),
        ),
        None if !runtimes.is_empty() => found.push(
            Diagnostic::error(codes::NO_RUNTIME, format!("{} does not say how it runs", entry.name))
                .at(place("kind"))
                .fix(format!("runtime: {}", runtimes.join(" or "))),
        ),
        _ => {}
    }
    if let Some(tier) = entry.tier.as_deref()
        && !["dev", "production", "staging"].contains(&tier)
    {
        found.push(
            Diagnostic::error(codes::BAD_VALUE, format!("there is no tier {tier:?}"))
                .at(place("tier"))
                .fix("there are dev, staging and production"),
        );
    }
    if let Some(replicas) = entry.replicas
        && replicas != 1
        && !component.stateless
    {
        found.push(
            Diagnostic::error(
                codes::NOT_STATELESS,
                format!("{} cannot have {replicas} replicas: it keeps state", entry.name),
            )
            .at(place("replicas"))
            .why("two processes writing one data directory destroy it")
            .fix("replicas: 1"),
        );
    }
    if let Some(problem) = reserved_name(component, entry.name.as_str()) {
        found.push(problem.at(place("kind")));
    }
    if let Some(problem) = entry.version.as_deref().and_then(|tag| wrong_version(entry.name.as_str(), tag)) {
        found.push(problem.at(place("version")).fix("write the tag that is meant there"));
    }
    if let Some(problem) = entry.binary.as_deref().and_then(|path| wrong_binary(entry.name.as_str(), path)) {
        found.push(problem.at(place("binary")));
    }
    if entry.runtime.as_deref() == Some("container") && entry.version.is_none() {
        found.push(
            Diagnostic::error(
                codes::NO_VERSION,
                format!("{} does not say which version of {} runs", entry.name, entry.kind),
            )
            .at(place("kind"))
            .why("eos never guesses one: another tag tomorrow would be another program")
            .fix("write version: <tag> there"),
        );
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// The message about a name that none of this kind may have.
pub fn reserved_name(component: &Component, name: &str) -> Option<Diagnostic> {
    let kind = &component.kind;
    if let Some(pattern) = component.name_pattern.as_ref().filter(|_| !component.takes_name(name)) {
        return Some(
            Diagnostic::error(codes::BAD_NAME, format!("no {kind} can be named {name:?}"))
                .why(format!("the name of a {kind} has to match {pattern}"))
                .fix(format!("eos create {kind} <another name>")),
        );
    }
    component.reserved_names.iter().any(|reserved| reserved == name).then(|| {
        Diagnostic::error(codes::BAD_NAME, format!("no {kind} can be named {name:?}"))
            .why("the system has an account of that name, or the name says nothing")
            .fix(format!("eos create {kind} <another name>"))
    })
}

/// The message about an image's tag that means no version, or is no tag.
pub fn wrong_version(name: &str, tag: &str) -> Option<Diagnostic> {
    if tag == "latest" {
        let message = format!("{name} has the version \"latest\", which is none");
        let why = "it changes under your feet: the same estate would run other programs tomorrow";
        return Some(Diagnostic::error(codes::NO_VERSION, message).why(why));
    }
    let (tag, digest) = tag.split_once('@').map_or((tag, None), |(tag, digest)| (tag, Some(digest)));
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let is_tag = !tag.is_empty() && tag.len() <= 128 && !tag.starts_with(['.', '-']) && tag.chars().all(fits);
    let is_digest = |digest: &str| {
        let hex = digest.strip_prefix("sha256:").unwrap_or_default();
        hex.len() == 64 && hex.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
    };
    if is_tag && digest.is_none_or(is_digest) {
        return None;
    }
    Some(
        Diagnostic::error(codes::BAD_VALUE, format!("{name}: the version is no tag of an image"))
            .why("a tag has letters, digits, '_', '.' and '-', at most 128, and may end in @sha256:<digest>"),
    )
}

/// The message about a program that nobody can find by what is written.
pub fn wrong_binary(name: &str, path: &str) -> Option<Diagnostic> {
    let is_word = !path.is_empty() && !path.contains('/') && !path.starts_with('-');
    let is_plain = !path.contains(|c: char| c.is_control() || c.is_whitespace());
    let is_whole = path.starts_with('/') && !path.split('/').any(|part| part == "..");
    if is_plain && (is_word || is_whole) {
        return None;
    }
    Some(
        Diagnostic::error(codes::BAD_VALUE, format!("{name}: {path:?} is no program's path"))
            .why("Nomad starts it on the host, from a folder of its own and without a shell")
            .fix("the whole path, such as /usr/local/bin/redis-server"),
    )
}

fn settings(
    work: &mut Work<'_>,
    entry: &ComponentEntry,
    component: &Component,
) -> IndexMap<String, SettingValue> {
    let mut settings = IndexMap::new();
    let environment = work.input.environment;
    let known: Vec<&str> = component.settings.keys().map(String::as_str).collect();
    for (name, node) in &entry.settings {
        let Some(schema) = component.settings.get(name) else {
            let place = work.place(node);
            work.push(
                Diagnostic::error(codes::UNKNOWN_SETTING, format!("{} has no setting {name:?}", entry.kind))
                    .at(place)
                    .fix(hint(name, &known)),
            );
            continue;
        };
        let value = node.to_json();
        if let Err(problem) = schema.check(&value) {
            let diagnostic = wrong_value(work, node, entry, name, schema, &problem);
            work.push(diagnostic);
            continue;
        }
        let key = Origin::component_key(&entry.name, &["settings:", name].concat());
        settings.insert(name.clone(), SettingValue { value, origin: work.written(node, key) });
    }
    for (name, schema) in &component.settings {
        if settings.contains_key(name) || entry.settings.contains_key(name) {
            continue;
        }
        match &schema.default {
            Some(value) => {
                settings.insert(
                    name.clone(),
                    SettingValue { value: value.clone(), origin: Origin::default_of(&entry.kind, name) },
                );
            }
            None if schema.required || schema.kind == SettingType::Secret => {
                let place = work.place(&entry.node);
                let fix = match schema.kind {
                    SettingType::Secret => {
                        let (env, of) = (&environment.name, &entry.name);
                        format!(
                            "write {name}: secret://{env}/{of}/{name}?v=1 under its settings and commit, then eos secret set {of}/{name}"
                        )
                    }
                    kind => format!("write {name}: <{}> under its settings", kind.as_str()),
                };
                work.push(
                    Diagnostic::error(
                        codes::MISSING_SETTING,
                        format!("{} lacks the setting {name:?}: {}", entry.name, schema.help),
                    )
                    .at(place)
                    .why(if schema.kind == SettingType::Secret {
                        "it has no default: a secret that every estate has would be none"
                    } else {
                        "it has no default: only you can know it"
                    })
                    .fix(fix),
                );
            }
            None => {}
        }
    }
    settings
}

/// A value that does not fit. Of a secret setting the line itself is not shown: it may hold the secret.
fn wrong_value(
    work: &Work<'_>,
    node: &Node,
    entry: &ComponentEntry,
    name: &str,
    schema: &Setting,
    problem: &str,
) -> Diagnostic {
    let place = work.place(node);
    let unseen = |place: Option<Place>| place.map(|place| Place { text: String::new(), ..place });
    if problem == PASSWORD_IN_ADDRESS {
        return Diagnostic::error(codes::SECRET_IN_CLEAR, format!("{}: {name}: {problem}", entry.name))
            .at(unseen(place))
            .why("the pillar is read by every minion and kept in git for ever")
            .fix("write the address without the password, which goes to a secret or a file on the host, and change that: it was seen");
    }
    if schema.kind == SettingType::Secret {
        let place = unseen(place);
        return Diagnostic::error(codes::SECRET_IN_CLEAR, format!("{}: {name} is not a reference to a secret", entry.name))
            .at(place)
            .why("the pillar is read by every minion and kept in git for ever")
            .fix(format!(
                "write secret://{}/{}/{name}?v=1 there and commit, then eos secret set {}/{name} with a new value",
                work.input.environment.name, entry.name, entry.name
            ));
    }
    let fits = schema
        .example
        .as_ref()
        .or(schema.default.as_ref())
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let fix = fits.filter(|fits| !fits.is_empty()).map_or_else(
        || "write another value there".to_owned(),
        |fits| format!("write another value there, such as {fits}"),
    );
    Diagnostic::error(codes::BAD_VALUE, format!("{}: {name}: {problem}", entry.name))
        .at(place)
        .why(format!("{name} is: {}", schema.help))
        .fix(fix)
}

pub fn hint(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None if known.is_empty() => "there is none to choose".to_owned(),
        None if known.len() == 1 => format!("the only one is {}", known.join("")),
        None => format!("there are {}", known.join(", ")),
    }
}
