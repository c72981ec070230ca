//! Typed fields of a pillar's entries, and what is said when one does not fit.

use std::fmt;
use std::str::FromStr;

use eos_model::{Diagnostic, Diagnostics, codes, nearest::nearest};
use eos_yaml::{Node, Sources, Value};
use indexmap::IndexMap;

use crate::words::Misfit;

/// Reads typed fields out of nodes and collects what does not fit.
pub(crate) struct Fields<'a> {
    pub sources: &'a Sources,
    pub found: &'a mut Diagnostics,
}

impl Fields<'_> {
    pub fn wrong(&mut self, node: &Node, message: String) -> Diagnostic {
        Diagnostic::error(codes::WRONG_SHAPE, message)
            .at(self.sources.place_of(node))
            .why("what eos does not know it would leave out, and nobody would notice")
            .fix("put right that line; eos explain E0211 shows what an entry looks like")
    }

    pub fn section<'n>(&mut self, root: &'n Node, name: &str) -> &'n [(Node, Node)] {
        match root.get(name) {
            None => &[],
            Some(node) => match &node.value {
                Value::Map(entries) => entries,
                Value::Null => &[],
                _ => {
                    let wrong = self
                        .wrong(node, format!("eos:{name} is {}, not a mapping of names", node.kind_name()));
                    self.found.push(wrong);
                    &[]
                }
            },
        }
    }

    pub fn name<T: FromStr>(&mut self, node: &Node) -> Option<T>
    where
        T::Err: fmt::Display,
    {
        match node.as_str().unwrap_or_default().parse() {
            Ok(name) => Some(name),
            Err(problem) => {
                let place = self.sources.place_of(node);
                self.found.push(
                    Diagnostic::error(codes::BAD_NAME, format!("{problem}")).at(place).fix(
                        "names are lower-case letters, digits, '-', '_' and '.', such as crm or john.doe",
                    ),
                );
                None
            }
        }
    }

    pub fn known_fields(&mut self, what: &str, node: &Node, known: &[&str]) -> bool {
        let Some(entries) = node.as_map() else {
            let wrong = self.wrong(node, format!("{what} is {}, not a mapping", node.kind_name()));
            self.found.push(wrong);
            return false;
        };
        for (key, _) in entries {
            let word = key.as_str().unwrap_or_default();
            if !known.contains(&word) {
                let fix = nearest(word, known.iter().copied()).map_or_else(
                    || format!("there are {}", known.join(", ")),
                    |near| format!("did you mean {near}?"),
                );
                let wrong = self.wrong(key, format!("{what} has an unknown field {word:?}")).fix(fix);
                self.found.push(wrong);
            }
        }
        true
    }

    pub fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        let value = node.get(key)?;
        match &value.value {
            Value::String(text) => Some(text.clone()),
            _ => {
                let wrong = self
                    .wrong(value, format!("{key} is {}, not a text", value.kind_name()))
                    .fix("put it in quotes");
                self.found.push(wrong);
                None
            }
        }
    }

    pub fn required(&mut self, what: &str, node: &Node, key: &str) -> Option<String> {
        if node.get(key).is_none() {
            let wrong = self.wrong(node, format!("{what} has no {key}"));
            self.found.push(wrong);
        }
        self.text(node, key)
    }

    /// A text that has to fit, or it is told of.
    pub fn fits(&mut self, what: &str, node: &Node, key: &str, check: fn(&str) -> Result<(), Misfit>) {
        let Some(value) = node.get(key) else { return };
        let Some(Err(misfit)) = value.as_str().map(check) else { return };
        let told = misfit.told(&format!("{key} of {what}"), value.as_str().unwrap_or_default());
        let fix = format!("write another there, such as {}", misfit.instead);
        self.found.push(told.at(self.sources.place_of(value)).fix(fix));
    }

    /// How many there are of something: one at least.
    pub fn number(&mut self, node: &Node, key: &str) -> Option<i64> {
        let value = node.get(key)?;
        match value.as_i64() {
            None => {
                let wrong = self.wrong(value, format!("{key} is {}, not a whole number", value.kind_name()));
                self.found.push(wrong);
            }
            Some(number) if !(1..=i64::from(u32::MAX)).contains(&number) => {
                let message = format!("{key} cannot be {number}");
                let wrong = Diagnostic::error(codes::BAD_VALUE, message).at(self.sources.place_of(value));
                let wrong =
                    wrong.why("it is 1 at least, and at most 4 billion, which is as much as Nomad takes");
                self.found.push(wrong.fix(format!("write another number there, or leave out {key}")));
            }
            Some(_) => {}
        }
        value.as_i64()
    }

    pub fn map(&mut self, node: &Node, key: &str) -> IndexMap<String, Node> {
        self.entries(node, key)
            .iter()
            .map(|(key, value)| (key.as_str().unwrap_or_default().to_owned(), value.clone()))
            .collect()
    }

    /// The entries of a mapping; none for what is not there, or is none.
    pub fn entries<'n>(&mut self, node: &'n Node, key: &str) -> &'n [(Node, Node)] {
        let Some(value) = node.get(key) else { return &[] };
        match &value.value {
            Value::Map(entries) => entries,
            Value::Null => &[],
            _ => {
                let wrong = self.wrong(value, format!("{key} is {}, not a mapping", value.kind_name()));
                self.found.push(wrong);
                &[]
            }
        }
    }
}
