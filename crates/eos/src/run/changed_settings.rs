//! What a plan says of settings: what the pillar asks for otherwise than when a unit was applied. Tofu and Nomad see what
//! comes of it, a person wants to know what was changed.

use std::collections::BTreeMap;

use eos_compile::intent;
use eos_engine::{AppliedUnit, Cause, CauseKind, Goal, RunPlan, SettingChange, Units};
use eos_model::{EnvName, Name, SecretRef};
use eos_pillar::{Change, ComponentEntry, Environment};
use serde_json::Value as Json;

use crate::in_clear::{self, HIDDEN};
use crate::loaded::Loaded;

/// Who something was made for is no choice of anybody's.
const NOT_CHOSEN: &[&str] = &["created_for"];

/// Puts into a plan which settings of its units are not those that were applied, and for units without any by whom they
/// change. What cannot be read any more is left out: tofu and Nomad say what they see of it.
pub fn tell(
    plan: &mut RunPlan,
    loaded: &Loaded,
    change: &Change,
    units: &Units,
    applied: &BTreeMap<Name, AppliedUnit>,
) {
    let Ok(now) = loaded.tree.with(change).environment(&plan.env) else { return };
    let mut earlier: BTreeMap<&str, Option<Environment>> = BTreeMap::new();
    for (name, unit) in &mut plan.units {
        let before = applied.get(name).filter(|before| before.digest.is_some());
        let Some(before) = before.filter(|_| unit.is_work() && unit.goal == Goal::Present) else { continue };
        let then = earlier.entry(&before.commit).or_insert_with(|| at(loaded, &plan.env, &before.commit));
        let entries = then.as_ref().and_then(|then| then.components.get(name)).zip(now.components.get(name));
        unit.settings = entries.map(|(then, now)| differences(loaded, then, now)).unwrap_or_default();
    }
    let causes: Vec<(Name, Vec<Cause>)> =
        plan.units.keys().map(|name| (name.clone(), causes(plan, name, units, applied))).collect();
    for (name, causes) in causes {
        plan.units.entry(name).and_modify(|unit| unit.causes = causes);
    }
}

/// What an environment asked for at a commit.
fn at(loaded: &Loaded, env: &EnvName, commit: &str) -> Option<Environment> {
    let back = loaded.estate.git.change_back_to(commit).ok()?;
    loaded.tree.with(&back).environment(env).ok()
}

fn differences(loaded: &Loaded, then: &ComponentEntry, now: &ComponentEntry) -> Vec<SettingChange> {
    let document = |entry: &ComponentEntry| {
        let mut document = entry.node.to_json();
        in_clear::hide(&loaded.catalog, &mut document);
        document
    };
    let (then, now_asked) = (document(then), document(now));
    let component = intent::with_features(&loaded.catalog, now).ok();
    let usual = |setting: &str| component.as_ref()?.settings.get(setting)?.default.clone();
    let mut found = Vec::new();
    for key in keys(&then, &now_asked).filter(|key| !NOT_CHOSEN.contains(key)) {
        let (then, now) = (&then[key], &now_asked[key]);
        match key {
            // A setting is known by its own name, and has a value where it is not said.
            "settings" => {
                let known = |value: &Json, name: &str| match &value[name] {
                    Json::Null => usual(name).unwrap_or_default(),
                    said => said.clone(),
                };
                for name in keys(then, now) {
                    compare(name, &known(then, name), &known(now, name), &mut found);
                }
            }
            "needs" | "secrets" | "volumes" => {
                for part in keys(then, now) {
                    compare(&format!("{key}.{part}"), &then[part], &now[part], &mut found);
                }
            }
            _ => compare(key, then, now, &mut found),
        }
    }
    for one in found.iter_mut().filter(|one| eos_provider::is_secret(&one.name)) {
        let values = [&mut one.before, &mut one.after].into_iter();
        values
            .filter(|value| !value.is_null() && !is_reference(value))
            .for_each(|value| *value = HIDDEN.into());
    }
    found
}

/// Puts down what differs, of a mapping what differs in it.
fn compare(name: &str, then: &Json, now: &Json, found: &mut Vec<SettingChange>) {
    match (then, now) {
        _ if then == now => {}
        (Json::Object(_), Json::Object(_)) => {
            for key in keys(then, now) {
                compare(&format!("{name}.{key}"), &then[key], &now[key], found);
            }
        }
        _ => found.push(SettingChange { name: name.to_owned(), before: then.clone(), after: now.clone() }),
    }
}

/// The keys of two mappings, each once, in the order of the later one; what is no mapping has none.
fn keys<'j>(then: &'j Json, now: &'j Json) -> impl Iterator<Item = &'j str> {
    let of = |value: &'j Json| value.as_object().into_iter().flat_map(|map| map.keys());
    of(now).chain(of(then).filter(|key| now.get(key.as_str()).is_none())).map(String::as_str)
}

fn is_reference(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.parse::<SecretRef>().is_ok())
}

/// Others that a unit without settings of its own changes by.
fn causes(plan: &RunPlan, name: &Name, units: &Units, applied: &BTreeMap<Name, AppliedUnit>) -> Vec<Cause> {
    let is_work = |name: &Name| plan.units.get(name).is_some_and(|unit| unit.is_work());
    if !is_work(name) || !applied.contains_key(name) || !plan.units[name].settings.is_empty() {
        return Vec::new();
    }
    let needs = |one: &Name, other: &Name| {
        units.units.get(one).is_some_and(|unit| unit.manifest.needs.contains(other))
    };
    let needed = |one: &Name| applied.get(one).is_some_and(|unit| unit.needs.contains(name));
    let does = |other: &Name| match (needed(other), needs(other, name)) {
        (false, true) => Some(CauseKind::Comes),
        (true, false) => Some(CauseKind::Goes),
        (both, _) if both || needs(name, other) => {
            (!plan.units[other].settings.is_empty()).then_some(CauseKind::Changes)
        }
        _ => None,
    };
    let others = plan.units.keys().filter(|other| *other != name && is_work(other));
    others.filter_map(|other| Some(Cause { unit: other.clone(), does: does(other)? })).collect()
}
