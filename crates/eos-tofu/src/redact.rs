//! Takes sensitive and unknown parts out of a value, by the masks that tofu sends along.
//!
//! A mask has the value's shape: `true` covers all below, an absent part covers nothing. Whatever does not fit (another
//! shape, a missing mask) hides rather than shows.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{Path, PathStep, Shown};

const NOTHING: Value = Value::Bool(false);
const EVERYTHING: Value = Value::Bool(true);

/// What may be shown of a value. No mask for sensitive parts hides all of it.
pub(crate) fn redact(value: Option<&Value>, sensitive: Option<&Value>, unknown: Option<&Value>) -> Shown {
    shown(value.unwrap_or(&Value::Null), sensitive.unwrap_or(&EVERYTHING), unknown.unwrap_or(&NOTHING))
}

fn shown(value: &Value, sensitive: &Value, unknown: &Value) -> Shown {
    if covers_all(sensitive) {
        return Shown::Sensitive;
    }
    if *unknown == EVERYTHING {
        return Shown::Unknown;
    }
    match value {
        Value::Null if !covers_any(unknown) => Shown::Null,
        Value::Object(_) | Value::Null
            if !misfits(sensitive, Value::is_object) && unknown.is_object() | !covers_any(unknown) =>
        {
            let parts = keys(value).chain(keys(unknown).filter(|key| covers_any(member(unknown, key))));
            let parts: BTreeSet<&String> = parts.collect();
            let part = |key: &String| {
                shown(value.get(key).unwrap_or(&Value::Null), member(sensitive, key), member(unknown, key))
            };
            Shown::Map(parts.into_iter().map(|key| (key.clone(), part(key))).collect::<BTreeMap<_, _>>())
        }
        Value::Array(list) if !misfits(sensitive, Value::is_array) => {
            let length = list.len().max(unknown.as_array().map_or(0, Vec::len));
            let part = |index: usize| {
                let value = list.get(index).unwrap_or(&Value::Null);
                shown(value, item(sensitive, index), item(unknown, index))
            };
            Shown::List((0..length).map(part).collect())
        }
        _ if covers_any(sensitive) => Shown::Sensitive,
        _ if covers_any(unknown) => Shown::Unknown,
        Value::Bool(value) => Shown::Bool(*value),
        Value::Number(value) => Shown::Number(value.clone()),
        Value::String(value) => Shown::Text(value.clone()),
        _ => Shown::Unknown,
    }
}

/// A mask that hides what either of two hides. What is to become sensitive must not be shown as it was, and the reverse.
pub(crate) fn union(one: Option<&Value>, other: Option<&Value>) -> Value {
    match (one, other) {
        (Some(one), Some(other)) => joined(one, other),
        _ => EVERYTHING,
    }
}

fn joined(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let part = |key: &&String| joined(member(one, key), member(other, key));
            Value::Object(keys.iter().map(|key| ((*key).clone(), part(key))).collect())
        }
        (Value::Array(a), Value::Array(b)) => {
            let length = a.len().max(b.len());
            Value::Array((0..length).map(|index| joined(item(one, index), item(other, index))).collect())
        }
        _ if covers_all(one) || covers_all(other) => EVERYTHING,
        _ if !covers_any(one) => other.clone(),
        _ if !covers_any(other) => one.clone(),
        _ => EVERYTHING,
    }
}

/// Calls back for each place where two values differ, with what may be shown of both.
pub(crate) fn differences(
    before: &Value,
    after: &Value,
    sensitive: &Value,
    unknown: &Value,
    path: &mut Vec<PathStep>,
    found: &mut dyn FnMut(Path, Shown, Shown),
) {
    if *unknown != EVERYTHING && !covers_any(unknown) && before == after {
        return;
    }
    let inside = *unknown != EVERYTHING && !covers_all(sensitive);
    let empty = |value: &Value| value.is_object() || (path.is_empty() && value.is_null());
    if inside && empty(before) && empty(after) && !misfits(sensitive, Value::is_object) {
        let parts: BTreeSet<&String> = keys(before).chain(keys(after)).chain(keys(unknown)).collect();
        for key in parts {
            path.push(PathStep::Key(key.clone()));
            let (before, after) =
                (before.get(key).unwrap_or(&Value::Null), after.get(key).unwrap_or(&Value::Null));
            differences(before, after, member(sensitive, key), member(unknown, key), path, found);
            path.pop();
        }
        return;
    }
    if let (true, Value::Array(a), Value::Array(b)) = (inside, before, after)
        && a.len() == b.len()
        && !misfits(sensitive, Value::is_array)
    {
        for (index, (before, after)) in a.iter().zip(b).enumerate() {
            path.push(PathStep::Index(index));
            differences(before, after, item(sensitive, index), item(unknown, index), path, found);
            path.pop();
        }
        return;
    }
    // That a side is absent says nothing about its value, and tells a creation from a change.
    let side = |value: &Value, unknown: &Value| match value {
        Value::Null if !covers_any(unknown) => Shown::Null,
        _ => shown(value, sensitive, unknown),
    };
    found(Path(path.clone()), side(before, &NOTHING), side(after, unknown));
}

/// Anything that is not a proper mask covers all.
fn covers_all(mask: &Value) -> bool {
    matches!(mask, Value::Bool(true) | Value::Null | Value::String(_) | Value::Number(_))
}

/// Whether a mask covers anything.
fn covers_any(mask: &Value) -> bool {
    match mask {
        Value::Bool(covered) => *covered,
        Value::Object(map) => map.values().any(covers_any),
        Value::Array(list) => list.iter().any(covers_any),
        Value::Null | Value::String(_) | Value::Number(_) => true,
    }
}

/// A mask that covers something and does not have the value's shape.
fn misfits(mask: &Value, fits: fn(&Value) -> bool) -> bool {
    covers_any(mask) && !fits(mask)
}

fn member<'a>(mask: &'a Value, key: &str) -> &'a Value {
    match mask {
        Value::Object(map) => map.get(key).unwrap_or(&NOTHING),
        Value::Bool(true) => &EVERYTHING,
        _ => &NOTHING,
    }
}

fn item(mask: &Value, index: usize) -> &Value {
    match mask {
        Value::Array(list) => list.get(index).unwrap_or(&NOTHING),
        Value::Bool(true) => &EVERYTHING,
        _ => &NOTHING,
    }
}

fn keys(value: &Value) -> Box<dyn Iterator<Item = &String> + '_> {
    match value {
        Value::Object(map) => Box::new(map.keys()),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests;
