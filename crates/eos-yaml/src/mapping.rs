//! The entries of a mapping: keys become text, `<<` is merged in as Salt does, duplicates are reported.

use std::collections::HashMap;
use std::sync::Arc;

use eos_model::{Diagnostic, Diagnostics, codes};

use crate::compose::node;
use crate::node::{Mark, Node, Value};
use crate::parse::Reading;
use crate::scalar::Meaning;

pub(crate) struct Key {
    mark: Mark,
    kind: KeyKind,
}

enum KeyKind {
    Text(String),
    Merge,
    /// What was written, and what Salt takes it for.
    Refused(String, &'static str),
}

/// A key and its value before merge keys are resolved.
pub(crate) type Entry = (Key, Node);

impl Key {
    pub fn of_scalar(text: String, meaning: Meaning, mark: Mark) -> Key {
        let kind = match meaning {
            Meaning::Text | Meaning::Timestamp | Meaning::Equals => KeyKind::Text(text),
            Meaning::Int(number) if number.to_string() == text => KeyKind::Text(text),
            Meaning::Merge => KeyKind::Merge,
            Meaning::Null => KeyKind::Refused(text, "nothing"),
            Meaning::Bool(_) => KeyKind::Refused(text, "a boolean"),
            Meaning::Int(_) | Meaning::TooLarge | Meaning::Float(_) | Meaning::NoDigits => {
                KeyKind::Refused(text, "a number")
            }
        };
        Key { mark, kind }
    }

    /// A key that is an alias, a list or a mapping.
    pub fn of_node(node: Node) -> Key {
        let kind = match node.value {
            Value::String(text) => KeyKind::Text(text),
            Value::Int(number) => KeyKind::Text(number.to_string()),
            _ => KeyKind::Refused(String::new(), node.kind_name()),
        };
        Key { mark: node.mark, kind }
    }

    /// What an anchor on this key stands for.
    pub fn as_node(&self) -> Node {
        match &self.kind {
            KeyKind::Text(text) => node(Value::String(text.clone()), self.mark),
            _ => node(Value::Null, self.mark),
        }
    }
}

/// The entries as Salt has them: what `<<` brings comes first, and never replaces the mapping's own keys.
pub(crate) fn finish(reading: &Reading, entries: Vec<Entry>, found: &mut Diagnostics) -> Vec<(Node, Node)> {
    let mut own = Vec::with_capacity(entries.len());
    let mut merged = Vec::new();
    for (key, value) in entries {
        match key.kind {
            KeyKind::Text(text) => own.push((node(Value::String(text), key.mark), value)),
            KeyKind::Merge => merge_in(reading, value, &mut merged, found),
            KeyKind::Refused(text, what) => {
                let fix = if text.is_empty() {
                    "use a text as the key".to_owned()
                } else {
                    format!("quote it: '{text}':")
                };
                found.push(
                    Diagnostic::error(codes::YAML_UNSUPPORTED, format!("this key is {what} and not text"))
                        .at(reading.place(key.mark))
                        .why(
                            "Salt would keep it so, and nothing would find it under the name that is written",
                        )
                        .fix(fix),
                );
            }
        }
    }
    if !merged.is_empty() {
        merged.retain(|(key, _)| !own.iter().any(|(name, _)| name.value == key.value));
        merged.append(&mut own);
        own = merged;
    }
    report_duplicates(reading, &mut own, found);
    own
}

fn merge_in(reading: &Reading, value: Node, merged: &mut Vec<(Node, Node)>, found: &mut Diagnostics) {
    let (mark, kind) = (value.mark, value.kind_name());
    match value.value {
        Value::Map(entries) => merged.extend(Arc::unwrap_or_clone(entries)),
        Value::List(items) if items.iter().all(|item| item.as_map().is_some()) => {
            // Salt takes the last mapping first.
            for item in Arc::unwrap_or_clone(items).into_iter().rev() {
                merge_in(reading, item, merged, found);
            }
        }
        _ => found.push(
            Diagnostic::error(
                codes::YAML_SYNTAX,
                format!("<< needs a mapping or a list of mappings, and this is {kind}"),
            )
            .at(reading.place(mark))
            .why("Salt would refuse the whole file")
            .fix("name an anchor of a mapping: <<: *anchor"),
        ),
    }
}

fn report_duplicates(reading: &Reading, entries: &mut Vec<(Node, Node)>, found: &mut Diagnostics) {
    let duplicates = duplicates_of(entries);
    for (first, second) in duplicates.iter().rev() {
        let name = entries[*second].0.as_str().unwrap_or_default();
        let line = entries[*first].0.mark.line;
        let here = entries[*second].0.mark;
        found.push(
            Diagnostic::error(codes::DUPLICATE_KEY, format!("the key {name} is already in line {line}"))
                .at(reading.place(here))
                .why(format!("Salt refuses a mapping with two {name}, in lines {line} and {}", here.line))
                .fix("remove one of the two, or merge what they hold"),
        );
    }
    // Later uses of this mapping by alias must not report the same again.
    for (_, second) in duplicates {
        entries.remove(second);
    }
}

/// Pairs of positions with the same key, the last pair first.
fn duplicates_of(entries: &[(Node, Node)]) -> Vec<(usize, usize)> {
    let name = |at: usize| entries[at].0.as_str().unwrap_or_default();
    let mut pairs = Vec::new();
    if entries.len() <= 8 {
        for second in (1..entries.len()).rev() {
            if let Some(first) = (0..second).find(|first| name(*first) == name(second)) {
                pairs.push((first, second));
            }
        }
        return pairs;
    }
    let mut seen = HashMap::with_capacity(entries.len());
    for at in 0..entries.len() {
        if let Some(first) = seen.get(name(at)) {
            pairs.push((*first, at));
        } else {
            seen.insert(name(at), at);
        }
    }
    pairs.reverse();
    pairs
}
