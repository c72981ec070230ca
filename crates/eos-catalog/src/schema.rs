//! The published JSON Schema of `component.yaml`, and checking a document against it.

use eos_model::{Diagnostic, Diagnostics, Place, codes};
use eos_yaml::{Document, Node, Value};
use serde_json::Value as Json;

use crate::component::Component;
use crate::schema_walk::{Mistake, mistakes};

/// The schema as `eos catalog schema` prints it.
pub fn json_schema() -> Json {
    schemars::schema_for!(Component).to_value()
}

/// Everything in which `document` differs from the schema.
pub fn check(document: &Document, json: &Json) -> Diagnostics {
    let told = |mistake: Mistake| {
        let fix =
            mistake.fix.unwrap_or_else(|| "eos catalog schema prints what a component may hold".to_owned());
        Diagnostic::error(codes::BAD_COMPONENT, mistake.message)
            .at(place_of(document, &mistake.pointer))
            .fix(fix)
    };
    Diagnostics(mistakes(&json_schema(), json).into_iter().map(told).collect())
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
