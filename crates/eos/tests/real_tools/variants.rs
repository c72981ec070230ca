//! What a person could ask of each kind: its defaults, each feature, each runtime, everything at once.
//!
//! Read from the catalogue, so that a new component or feature is held against the real tools without a line here.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use eos_catalog::component::{Component, When};
use eos_catalog::{Catalog, Setting, SettingType};
use serde_json::Value as Json;

/// One `eos create`, without the program's name.
pub struct Variant {
    pub kind: String,
    pub name: String,
    pub words: Vec<String>,
}

/// Every kind that can be made, with its defaults; the name is the kind. First those whose ports eos does not set: others
/// give way to them.
pub fn defaults(catalog: &Catalog) -> Vec<Variant> {
    let all = catalog.kinds().map(|kind| (kind, catalog.component(kind).unwrap()));
    let (known_of, started): (Vec<_>, Vec<_>) = all
        .filter(|(_, component)| !component.only_acts())
        .partition(|(_, component)| component.starts_nothing());
    known_of
        .into_iter()
        .chain(started)
        .map(|(kind, component)| {
            let reserved = component.reserved_names.iter().any(|name| name == kind);
            let name = if reserved { format!("one-{kind}") } else { kind.to_owned() };
            Variant { kind: kind.to_owned(), name, words: required(&component) }
        })
        .collect()
}

/// Each feature, each runtime, replicas and everything together; named `<kind>-<what>`.
pub fn beyond_defaults(catalog: &Catalog) -> Vec<Variant> {
    let mut found = Vec::new();
    for kind in catalog.kinds() {
        let base = catalog.component(kind).unwrap();
        let mut all_flags = Vec::new();
        for (name, feature) in &base.features {
            let flags = match &feature.when {
                None => vec![format!("--{name}")],
                Some(When::Setting(setting)) => flag(setting, &base.settings[setting]),
                // Met by naming who offers it, as every variant does for every need.
                Some(When::Need(_)) => Vec::new(),
            };
            all_flags.extend(flags.clone());
            let on = feature.when.is_none().then(|| name.clone());
            found.push(variant(catalog, kind, name, on.into_iter().collect(), flags));
        }
        let every: BTreeSet<String> = base
            .features
            .iter()
            .filter(|(_, feature)| feature.when.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        if base.features.len() > 1 {
            found.push(variant(catalog, kind, "everything", every, all_flags));
        }
        for runtime in eos_catalog::check::runtimes(&base).into_iter().flatten() {
            let flags =
                vec!["--runtime".to_owned(), runtime.to_owned(), "--tier".to_owned(), "dev".to_owned()];
            found.push(variant(catalog, kind, runtime, BTreeSet::new(), flags));
        }
        if base.stateless
            && !eos_catalog::check::runtimes(&base).into_iter().flatten().collect::<Vec<_>>().is_empty()
        {
            found.push(variant(
                catalog,
                kind,
                "replicas",
                BTreeSet::new(),
                vec!["--replicas".to_owned(), "3".to_owned()],
            ));
        }
    }
    found
}

/// Needs are met by the names that `defaults` made: with several offers eos would ask.
fn variant(
    catalog: &Catalog,
    kind: &str,
    what: &str,
    features: BTreeSet<String>,
    mut flags: Vec<String>,
) -> Variant {
    let component = catalog.variant(kind, None, &features).unwrap();
    for word in required(&component).chunks(2) {
        if !flags.contains(&word[0]) {
            flags.extend(word.iter().cloned());
        }
    }
    // A proxy takes each host name once.
    for setting in ["domain", "hostname"].into_iter().filter(|name| component.settings.contains_key(*name)) {
        if !flags.contains(&format!("--{setting}")) {
            flags.extend([format!("--{setting}"), format!("{kind}-{what}.example.org")]);
        }
    }
    for (need, spec) in component.needs.iter().filter(|(_, spec)| spec.offer != "*" && spec.each.is_none()) {
        let offers = |other: &&str| catalog.component(other).unwrap().offers.contains_key(&spec.offer);
        if let Some(provider) = spec.create.as_deref().or_else(|| catalog.kinds().find(offers)) {
            flags.extend([format!("--{}", need.replace('_', "-")), provider.to_owned()]);
        }
    }
    Variant { kind: kind.to_owned(), name: format!("{kind}-{what}"), words: flags }
}

/// What has to be given: settings without a default, secrets that are never generated, a version nobody checked.
fn required(component: &Component) -> Vec<String> {
    let mut words = Vec::new();
    for (name, setting) in &component.settings {
        if setting.required || (setting.kind == SettingType::Secret && setting.generate == Some(0)) {
            words.extend(flag(name, setting));
        }
    }
    if component.runtimes.container.as_ref().is_some_and(|container| container.version.is_none()) {
        words.extend(["--version".to_owned(), "1.0".to_owned()]);
    }
    words
}

fn flag(name: &str, setting: &Setting) -> Vec<String> {
    vec![format!("--{}", name.replace('_', "-")), value(setting)]
}

/// The example of the catalogue, which so has to be a good one; hosts are the declared one.
fn value(setting: &Setting) -> String {
    if setting.kind == SettingType::Host || setting.of == Some(SettingType::Host) {
        return "local".to_owned();
    }
    match (&setting.example, setting.kind) {
        (Some(example), _) => text(example),
        (None, SettingType::Secret) => "Example-Secret-0123456789".to_owned(),
        (None, SettingType::Int) => setting.min.as_ref().map_or_else(|| "2000".to_owned(), text),
        (None, _) => ["example.org", "1.0"]
            .into_iter()
            .find(|text| setting.check(&setting.read_text(text)).is_ok())
            .unwrap()
            .to_owned(),
    }
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
