//! The published JSON Schema of `component.yaml`, and checking a document against it.

use std::sync::OnceLock;

use eos_model::{Diagnostic, Diagnostics, Place, codes, nearest::nearest};
use eos_yaml::{Document, Node, Value};
use jsonschema::error::ValidationErrorKind;
use serde_json::Value as Json;

use crate::component::Component;

/// The schema as `eos catalog schema` prints it.
pub fn json_schema() -> Json {
    schemars::schema_for!(Component).to_value()
}

/// Everything in which `document` differs from the schema.
pub fn check(document: &Document, json: &Json) -> Diagnostics {
    static VALIDATOR: OnceLock<Option<jsonschema::Validator>> = OnceLock::new();
    let mut found = Diagnostics::new();
    let Some(validator) = VALIDATOR.get_or_init(|| jsonschema::validator_for(&json_schema()).ok()) else {
        return found;
    };
    let schema = json_schema();
    for error in validator.iter_errors(json) {
        let path = error.instance_path().as_str();
        let whole = if path.is_empty() { "the component" } else { path };
        let mut push = |pointer: &str, message: String, fix: Option<String>| {
            let fix = fix.unwrap_or_else(|| "eos catalog schema prints what a component may hold".to_owned());
            found.push(
                Diagnostic::error(codes::BAD_COMPONENT, message).at(place_of(document, pointer)).fix(fix),
            );
        };
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let known = known_fields(&schema, error.schema_path().as_str());
                for field in unexpected {
                    let near =
                        nearest(field, known.iter().copied()).map(|near| format!("did you mean {near}?"));
                    push(&format!("{path}/{field}"), format!("{whole} has no field {field:?}"), near);
                }
            }
            ValidationErrorKind::Required { property } => {
                push(path, format!("{whole} lacks the field {property}"), None)
            }
            ValidationErrorKind::OneOfNotValid { .. } | ValidationErrorKind::AnyOf { .. } => {
                let words = allowed_words(&schema, error.schema_path().as_str());
                let message = format!("{whole}: {} is not allowed there", error.instance());
                push(
                    path,
                    message,
                    if words.is_empty() { None } else { Some(format!("one of {}", words.join(", "))) },
                );
            }
            _ => push(path, format!("{whole}: {error}"), None),
        }
    }
    found
}

/// What a schema path leads to, through the references on its way.
fn at_path<'s>(schema: &'s Json, path: &str) -> Option<&'s Json> {
    let mut here = schema;
    for step in path.split('/').skip(1) {
        if step == "$ref" {
            let target = here.get("$ref")?.as_str()?.strip_prefix('#')?;
            here = schema.pointer(target)?;
            continue;
        }
        here = here.pointer(&format!("/{step}"))?;
    }
    Some(here)
}

/// The fields an object may have, from the path of the rule that refused another.
fn known_fields<'s>(schema: &'s Json, path: &str) -> Vec<&'s str> {
    let object = path.rsplit_once('/').and_then(|(object, _)| at_path(schema, object));
    let fields = object.and_then(|object| object.get("properties")?.as_object());
    fields.into_iter().flatten().map(|(field, _)| field.as_str()).collect()
}

/// The words a choice allows, when it is a choice between words.
fn allowed_words<'s>(schema: &'s Json, path: &str) -> Vec<&'s str> {
    let choices = at_path(schema, path).and_then(Json::as_array).into_iter().flatten();
    let words = |choice: &'s Json| {
        choice
            .get("const")
            .into_iter()
            .chain(choice.get("enum").and_then(Json::as_array).into_iter().flatten())
    };
    choices.flat_map(words).filter_map(Json::as_str).collect()
}

/// The place of a JSON pointer in the document; the nearest parent where it does not exist.
fn place_of(document: &Document, pointer: &str) -> Place {
    let mut node: &Node = &document.root;
    let mut mark = node.mark;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let next = match &node.value {
            Value::Map(entries) => entries
                .iter()
                .find(|(key, _)| key.as_str() == Some(&step))
                .map(|(key, value)| (key.mark, value)),
            Value::List(items) => {
                step.parse::<usize>().ok().and_then(|index| items.get(index)).map(|item| (item.mark, item))
            }
            _ => None,
        };
        let Some((next_mark, next_node)) = next else { break };
        (mark, node) = (next_mark, next_node);
    }
    document.place(mark)
}
