//! Features: those a flag turned on and those on by themselves lay their overlays over the component.

use std::collections::BTreeSet;
use std::sync::Arc;

use eos_catalog::Component;
use eos_catalog::component::When;
use eos_model::Diagnostics;
use serde_json::Value as Json;

use crate::work::{Unit, Work};

pub fn run(work: &mut Work<'_>) {
    let mut expanded = Vec::new();
    let mut found = Diagnostics::new();
    let mut unsound = Vec::new();
    for unit in work.units.values() {
        match variant(work, unit) {
            Ok(component) => expanded.push((unit.id.name.clone(), active(unit), component)),
            Err(diagnostics) => {
                found.extend(diagnostics);
                unsound.push(unit.id.name.clone());
            }
        }
    }
    work.unsound.extend(unsound);
    for (name, features, component) in expanded {
        if let Some(unit) = work.units.get_mut(&name) {
            unit.features = features;
            unit.component = component;
        }
    }
    work.found.extend(found);
}

/// The component with the overlays that apply to the unit as far as it is known.
pub fn variant(work: &Work<'_>, unit: &Unit<'_>) -> Result<Arc<Component>, Diagnostics> {
    work.input.catalog.variant(&unit.entry.kind, unit.runtime(), &active(unit))
}

fn active(unit: &Unit<'_>) -> BTreeSet<String> {
    let given = unit.entry.features.iter().map(String::as_str);
    let setting = |name: &str| unit.settings.get(name).map(|setting| &setting.value);
    on(&unit.component, given, setting, |need| unit.entry.needs.contains_key(need))
}

/// The features that are on, given the flags, the settings' values and the needs that are met.
pub fn on<'v>(
    component: &Component,
    given: impl Iterator<Item = &'v str>,
    setting: impl Fn(&str) -> Option<&'v Json>,
    met: impl Fn(&str) -> bool,
) -> BTreeSet<String> {
    let mut features: BTreeSet<String> = given.map(str::to_owned).collect();
    for (name, feature) in &component.features {
        let on = match &feature.when {
            None => continue,
            Some(When::Setting(name)) => setting(name).is_some_and(is_set),
            Some(When::Need(need)) => met(need),
        };
        if on {
            features.insert(name.clone());
        }
    }
    features
}

fn is_set(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        _ => true,
    }
}
