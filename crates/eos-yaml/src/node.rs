//! The tree that reading gives: values in the order of the file, each with its place.

use std::sync::Arc;

use serde_json::Value as Json;

/// A place inside a file; both numbers start at 1, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    pub line: u32,
    pub column: u32,
}

/// Which file of a [`crate::Sources`] a node came from. A document has the number 0 until it gets one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(pub u32);

/// A value and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub mark: Mark,
    pub file: FileId,
}

/// What Salt's loader makes of a node. Keys of a mapping are nodes whose value is `String`.
///
/// What is inside a list or a mapping is shared by its copies: an entry of a pillar is kept in several places.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
    List(Arc<Vec<Node>>),
    Map(Arc<Vec<(Node, Node)>>),
}

impl Value {
    pub fn list(items: Vec<Node>) -> Value {
        Value::List(Arc::new(items))
    }

    pub fn map(entries: Vec<(Node, Node)>) -> Value {
        Value::Map(Arc::new(entries))
    }
}

impl Node {
    /// The value of a key, when this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&[(Node, Node)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        match self.value {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// What this is, as a message says it: "expected a mapping, found text".
    pub fn kind_name(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a number",
            Value::String(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The plain value. JSON knows neither infinity nor NaN: they become the text YAML has for them.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Bool(*flag),
            Value::Int(number) => Json::from(*number),
            Value::Float(number) => match serde_json::Number::from_f64(*number) {
                Some(number) => Json::Number(number),
                None if number.is_nan() => Json::from(".nan"),
                None if *number < 0.0 => Json::from("-.inf"),
                None => Json::from(".inf"),
            },
            Value::String(text) => Json::from(text.as_str()),
            Value::List(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Map(entries) => Json::Object(
                entries
                    .iter()
                    .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), value.to_json())))
                    .collect(),
            ),
        }
    }

    /// Says of this node, its keys and all below that they came from `file`.
    pub(crate) fn stamp(&mut self, file: FileId) {
        self.file = file;
        match &mut self.value {
            Value::List(items) => Arc::make_mut(items).iter_mut().for_each(|item| item.stamp(file)),
            Value::Map(entries) => {
                for (key, value) in Arc::make_mut(entries) {
                    key.stamp(file);
                    value.stamp(file);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(value: Value) -> Node {
        Node { value, mark: Mark { line: 1, column: 1 }, file: FileId::default() }
    }

    #[test]
    fn json_keeps_order_and_names_numbers_it_cannot_hold() {
        let map = node(Value::map(vec![
            (node(Value::String("z".into())), node(Value::Float(f64::NEG_INFINITY))),
            (
                node(Value::String("a".into())),
                node(Value::list(vec![node(Value::Null), node(Value::Float(1.0))])),
            ),
        ]));
        assert_eq!(map.to_json().to_string(), r#"{"z":"-.inf","a":[null,1.0]}"#);
        assert_eq!(map.get("a").map(Node::kind_name), Some("a list"));
        assert_eq!(map.get("b"), None);
    }
}
