//! Properties of redaction: nothing covered is shown, nothing uncovered is lost, and no mask is too strange.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Occurs in every text of a generated value, with a number of its own, and nowhere else.
const MARK: &str = "SECRET";

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0u32..1000).prop_map(|number| Value::from(format!("{MARK}{number}"))),
        (0u32..1000).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

/// Masks of any shape, fitting or not.
fn masks() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![4 => any::<bool>().prop_map(Value::from), 1 => Just(Value::Null), 1 => Just(json!("x"))];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

/// A value, a mask that fits it, and the texts that the mask leaves uncovered.
fn fitting() -> impl Strategy<Value = (Value, Value, Vec<String>)> {
    (values(), any::<u64>()).prop_map(|(value, seed)| {
        let (mut seed, mut counter, mut open) = (seed, 0, Vec::new());
        let value = numbered(&value, &mut counter);
        let mask = mask_for(&value, &mut seed, &mut open);
        (value, mask, open)
    })
}

/// Gives every text a number of its own, so that one shown is told from one hidden.
fn numbered(value: &Value, counter: &mut u32) -> Value {
    match value {
        Value::String(_) => {
            *counter += 1;
            Value::from(format!("{MARK}<{counter}>"))
        }
        Value::Array(list) => list.iter().map(|part| numbered(part, counter)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, part)| (key.clone(), numbered(part, counter))).collect())
        }
        other => other.clone(),
    }
}

fn mask_for(value: &Value, seed: &mut u64, open: &mut Vec<String>) -> Value {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    if (*seed >> 33).is_multiple_of(4) {
        return Value::Bool(true);
    }
    match value {
        Value::Array(list) => list.iter().map(|part| mask_for(part, seed, open)).collect(),
        Value::Object(map) => {
            let parts = map.iter().map(|(key, part)| (key.clone(), mask_for(part, seed, open)));
            // An uncovered part may be left out, as tofu does.
            Value::Object(parts.filter(|(_, mask)| *mask != Value::Bool(false)).collect())
        }
        Value::String(text) => {
            open.push(text.clone());
            Value::Bool(false)
        }
        _ => Value::Bool(false),
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// A value without what differences do not tell apart: an absent part is null, and no object at all is an empty one.
fn essence(value: &Value) -> Value {
    fn part(value: &Value) -> Value {
        match value {
            Value::Array(list) => list.iter().map(part).collect(),
            Value::Object(map) => {
                let kept = map.iter().filter(|(_, value)| !value.is_null());
                Value::Object(kept.map(|(key, value)| (key.clone(), part(value))).collect())
            }
            other => other.clone(),
        }
    }
    if value.is_null() { json!({}) } else { part(value) }
}

/// Everything a caller could see of a value.
fn visible(shown: &Shown) -> String {
    format!("{shown:?} {shown} {}", serde_json::to_string(shown).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exactly_what_is_uncovered_is_shown((value, mask, open) in fitting()) {
        let shown = visible(&redact(Some(&value), Some(&mask), None));
        for text in texts(&value) {
            prop_assert_eq!(shown.contains(&text), open.contains(&text), "{} in {}", text, shown);
        }
    }

    #[test]
    fn a_missing_or_total_mask_shows_nothing(value in values(), unknown in masks()) {
        for mask in [None, Some(&Value::Bool(true)), Some(&Value::Null)] {
            prop_assert_eq!(redact(Some(&value), mask, Some(&unknown)), Shown::Sensitive);
        }
    }

    #[test]
    fn no_mask_of_unknown_parts_uncovers_a_sensitive_one((value, mask, open) in fitting(), unknown in masks()) {
        let shown = visible(&redact(Some(&value), Some(&mask), Some(&unknown)));
        for text in texts(&value) {
            prop_assert!(open.contains(&text) || !shown.contains(&text), "{} in {}", text, shown);
        }
    }

    #[test]
    fn differences_show_no_more_than_the_values_and_name_every_change(
        (before, mask, open) in fitting(), after in values(), unknown in masks()
    ) {
        let mut seen = Vec::new();
        differences(&before, &after, &mask, &unknown, &mut Vec::new(), &mut |path, before, after| {
            seen.push(format!("{path} {} {}", visible(&before), visible(&after)));
        });
        let all = seen.join("\n");
        for text in texts(&before) {
            prop_assert!(open.contains(&text) || !all.contains(&text), "{} in {}", text, all);
        }
        if essence(&before) != essence(&after) {
            prop_assert!(!seen.is_empty());
        }
    }

    #[test]
    fn a_union_hides_what_either_hides((value, one, open) in fitting(), other in masks()) {
        for both in [union(Some(&one), Some(&other)), union(Some(&other), Some(&one))] {
            let shown = visible(&redact(Some(&value), Some(&both), None));
            let alone = visible(&redact(Some(&value), Some(&other), None));
            for text in texts(&value) {
                if shown.contains(&text) {
                    prop_assert!(open.contains(&text) && alone.contains(&text), "{} in {}", text, shown);
                }
            }
        }
    }

    #[test]
    fn masks_that_do_not_fit_never_show_more_than_fitting_ones(value in values(), mask in masks()) {
        let shown = redact(Some(&value), Some(&mask), None);
        if covers_all(&mask) {
            prop_assert_eq!(shown, Shown::Sensitive);
        } else if value.is_string() && super::covers_any(&mask) {
            prop_assert_eq!(shown, Shown::Sensitive);
        }
    }
}

#[test]
fn unknown_parts_appear_though_the_value_leaves_them_out() {
    let shown = redact(
        Some(&json!({"input": {"x": "S"}, "list": [1, null]})),
        Some(&json!({"input": {"x": true}})),
        Some(&json!({"id": true, "input": {"y": true, "z": false}, "list": [false, true], "none": {}})),
    );
    assert_eq!(
        shown.to_string(),
        r#"{"id": (known after apply), "input": {"x": (sensitive value), "y": (known after apply)}, "list": [1, (known after apply)]}"#
    );
    assert_eq!(redact(None, Some(&json!(false)), Some(&json!(true))), Shown::Unknown);
    assert_eq!(
        redact(None, Some(&json!(false)), Some(&json!({"a": [true]}))).to_string(),
        r#"{"a": (known after apply)}"#
    );
}

#[test]
fn a_changed_secret_is_named_and_not_told() {
    let mut seen = Vec::new();
    differences(
        &json!({"a": 1, "same": "S0", "secret": "S1", "list": [1, 2], "gone": true}),
        &json!({"a": 2, "same": "S0", "secret": "S2", "list": [1, 3], "new": {"b": 1}}),
        &json!({"secret": true, "same": true}),
        &json!({"id": true}),
        &mut Vec::new(),
        &mut |path, before, after| seen.push(format!("{path}: {before} -> {after}")),
    );
    let expected = [
        "a: 1 -> 2",
        "gone: true -> null",
        "id: null -> (known after apply)",
        "list[1]: 2 -> 3",
        "new: null -> {\"b\": 1}",
        "secret: (sensitive value) -> (sensitive value)",
    ];
    assert_eq!(seen, expected);
}
