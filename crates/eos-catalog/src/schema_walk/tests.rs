//! Held against a complete validator, on the built-in components with mistakes made in them.

use std::sync::LazyLock;

use eos_yaml::parse;
use jsonschema::error::ValidationErrorKind;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::folder::{COMPONENT_FILE, Folder};
use crate::schema::json_schema;

/// One mistake: which of the values of the document, and what becomes of it.
#[derive(Debug, Clone)]
enum Edit {
    Replace(Json),
    Remove,
    Add(&'static str, Json),
}

fn values() -> impl Strategy<Value = Json> {
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(70_000),
        json!("lots"),
        json!([]),
        json!([7]),
        json!({}),
        json!({"help": 1}),
        json!({"setting": "x"}),
    ];
    proptest::sample::select(odd.to_vec())
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, Edit)>> {
    let fields = proptest::sample::select(vec!["summry", "stateless", "owner", "a/b~c", "content", "when"]);
    let edit = prop_oneof![
        values().prop_map(Edit::Replace),
        Just(Edit::Remove),
        (fields, values()).prop_map(|(field, value)| Edit::Add(field, value)),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), edit), 0..4)
}

static COMPONENTS: LazyLock<Vec<Json>> = LazyLock::new(|| {
    let read = |folder: &Folder| parse("component.yaml".into(), &folder.files[COMPONENT_FILE]).unwrap();
    Folder::built_in().values().map(|folder| read(folder).root.to_json()).collect()
});
static SCHEMA: LazyLock<Json> = LazyLock::new(json_schema);
static COMPLETE: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(&SCHEMA).unwrap());

/// The pointers of all values in a document.
fn pointers(value: &Json, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Json::Object(fields) => {
            for (field, value) in fields {
                pointers(value, &format!("{here}/{}", escaped(field)), all);
            }
        }
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| pointers(item, &format!("{here}/{at}"), all));
        }
        _ => {}
    }
}

fn make(edit: Edit, at: &prop::sample::Index, document: &mut Json) {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    let pointer = at.get(&all);
    match edit {
        Edit::Replace(value) => *document.pointer_mut(pointer).unwrap() = value,
        Edit::Add(field, value) => {
            if let Some(Json::Object(fields)) = document.pointer_mut(pointer) {
                fields.insert(field.to_owned(), value);
            }
        }
        Edit::Remove => {
            let Some((parent, field)) = pointer.rsplit_once('/') else { return };
            let field = field.replace("~1", "/").replace("~0", "~");
            if let Some(Json::Object(fields)) = document.pointer_mut(parent) {
                fields.remove(&field);
            }
        }
    }
}

/// The places of which a complete validator says that something is wrong there.
fn oracle(document: &Json) -> Vec<String> {
    let mut places = Vec::new();
    for error in COMPLETE.iter_errors(document) {
        let place = error.instance_path().as_str().to_owned();
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                places.extend(unexpected.iter().map(|field| format!("{place}/{}", escaped(field))));
            }
            _ => places.push(place),
        }
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_complete_validator_refuses_is_refused_at_the_same_place(
        which in any::<prop::sample::Index>(),
        edits in edits(),
    ) {
        let mut document = which.get(&COMPONENTS).clone();
        for (at, edit) in edits {
            make(edit, &at, &mut document);
        }
        let ours: Vec<String> = mistakes(&SCHEMA, &document).into_iter().map(|found| found.pointer).collect();
        let theirs = oracle(&document);
        // Of a choice with null the complete one says that it is wrong, and this one what in it is.
        let lost: Vec<&String> = theirs.iter().filter(|place| !ours.iter().any(|own| own.starts_with(*place))).collect();
        let made_up: Vec<&String> =
            ours.iter().filter(|own| !theirs.iter().any(|place| own.starts_with(place))).collect();
        prop_assert!(lost.is_empty() && made_up.is_empty(), "lost {lost:?}, made up {made_up:?} in {document:#}");
    }
}

#[test]
fn inside_of_what_may_be_left_out_the_mistake_itself_is_named() {
    let document = json!({"format": 1, "kind": "x", "summary": "x", "proof": "runs",
                          "runtimes": {"container": {"imag": "nginx"}}});
    let messages: Vec<String> = mistakes(&SCHEMA, &document).into_iter().map(|found| found.message).collect();
    assert_eq!(
        messages,
        [r#"/runtimes/container lacks the field "image""#, r#"/runtimes/container has no field "imag""#]
    );
}

#[test]
fn every_keyword_of_the_schema_is_looked_at() {
    const ANNOTATIONS: [&str; 5] = ["$schema", "default", "description", "format", "title"];
    const LOOKED_AT: [&str; 7] = ["$ref", "const", "enum", "maximum", "minimum", "required", "type"];
    fn keywords(schema: &Json, unknown: &mut Vec<String>) {
        for (word, value) in schema.as_object().into_iter().flatten() {
            match word.as_str() {
                "properties" | "$defs" => {
                    value.as_object().unwrap().values().for_each(|schema| keywords(schema, unknown));
                }
                "oneOf" | "anyOf" => {
                    value.as_array().unwrap().iter().for_each(|schema| keywords(schema, unknown))
                }
                "items" | "additionalProperties" => keywords(value, unknown),
                word if ANNOTATIONS.contains(&word) || LOOKED_AT.contains(&word) => {}
                word => unknown.push(word.to_owned()),
            }
        }
    }
    let mut unknown = Vec::new();
    keywords(&SCHEMA, &mut unknown);
    assert!(unknown.is_empty(), "{unknown:?}");
}
