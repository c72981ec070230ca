//! A value of a plan or state that may be shown: sensitive parts and parts not known yet are already gone.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// A redacted value. `Sensitive` stands for something that is not in this program any more.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Shown>),
    Map(BTreeMap<String, Shown>),
    Sensitive,
    /// Known after apply.
    Unknown,
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    Key(String),
    Index(usize),
}

/// The way to an attribute: `input.ports[0]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<PathStep>);

impl Shown {
    pub const SENSITIVE: &'static str = "(sensitive value)";
    pub const UNKNOWN: &'static str = "(known after apply)";

    /// The part at a key of a map.
    pub fn get(&self, key: &str) -> Option<&Shown> {
        match self {
            Shown::Map(map) => map.get(key),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Shown::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Serialize for Shown {
    /// As the JSON it came from; what is hidden or unknown becomes a text that says so.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Shown::Null => serializer.serialize_unit(),
            Shown::Bool(value) => serializer.serialize_bool(*value),
            Shown::Number(value) => value.serialize(serializer),
            Shown::Text(value) => serializer.serialize_str(value),
            Shown::List(values) => values.serialize(serializer),
            Shown::Map(values) => values.serialize(serializer),
            Shown::Sensitive => serializer.serialize_str(Shown::SENSITIVE),
            Shown::Unknown => serializer.serialize_str(Shown::UNKNOWN),
        }
    }
}

impl fmt::Display for Shown {
    /// Compact JSON, with hidden and unknown parts in parentheses and without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Null => f.write_str("null"),
            Shown::Bool(value) => value.fmt(f),
            Shown::Number(value) => value.fmt(f),
            Shown::Text(value) => serde_json::Value::from(value.as_str()).fmt(f),
            Shown::Sensitive => f.write_str(Shown::SENSITIVE),
            Shown::Unknown => f.write_str(Shown::UNKNOWN),
            Shown::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    value.fmt(f)?;
                }
                f.write_str("]")
            }
            Shown::Map(values) => {
                f.write_str("{")?;
                for (index, (key, value)) in values.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    write!(f, "{separator}{}: {value}", serde_json::Value::from(key.as_str()))?;
                }
                f.write_str("}")
            }
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if index == 0 => f.write_str(key)?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(number) => write!(f, "[{number}]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
