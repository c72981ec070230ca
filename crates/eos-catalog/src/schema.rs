//! The published JSON Schema of `component.yaml`, and checking a document against it.

use std::sync::OnceLock;

use eos_model::{Diagnostic, Diagnostics, Place, codes};
use eos_yaml::{Document, Node, Value};
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
    for error in validator.iter_errors(json) {
        let path = error.instance_path().as_str().to_owned();
        let place = place_of(document, &path);
        let message = format!("{}: {error}", if path.is_empty() { "the component" } else { &path });
        found.push(
            Diagnostic::error(codes::BAD_COMPONENT, message)
                .at(place)
                .fix("eos catalog schema prints what a component may hold"),
        );
    }
    found
}

/// The place of a JSON pointer in the document; the nearest parent where it does not exist.
fn place_of(document: &Document, pointer: &str) -> Place {
    let mut node: &Node = &document.root;
    let mut mark = node.mark;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let next = match &node.value {
            Value::Map(entries) => entries.iter().find(|(key, _)| key.as_str() == Some(&step)).map(|(key, value)| (key.mark, value)),
            Value::List(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)).map(|item| (item.mark, item)),
            _ => None,
        };
        let Some((next_mark, next_node)) = next else { break };
        (mark, node) = (next_mark, next_node);
    }
    document.place(mark)
}
