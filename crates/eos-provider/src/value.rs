//! Values as they go over the wire: msgpack where tofu speaks, JSON where a state file does.
//!
//! A value may be unknown until apply; everything else is plain data. An [`Object`] holds one resource's attributes.

use std::collections::BTreeMap;

use serde_json::{Number, Value as Json};

/// An attribute's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Known after apply.
    Unknown,
    Null,
    Bool(bool),
    Number(Number),
    /// A number too large for a machine's own comes as text too.
    Text(String),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
}

/// The attributes of one resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object(pub BTreeMap<String, Value>);

/// Bytes that are not a value.
#[derive(Debug, thiserror::Error)]
pub enum BadValue {
    #[error("reading a msgpack value: {0}")]
    Msgpack(#[from] rmpv::decode::Error),
    #[error("reading a JSON value: {0}")]
    Json(#[from] serde_json::Error),
    #[error("reading a value: {0}")]
    Shape(&'static str),
}

impl Object {
    /// The attribute, null when it is not there.
    pub fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Object {
        self.set(name, value);
        self
    }

    /// A known text; none when it is null or unknown.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A known truth value; none when it is null or unknown.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn is_unknown(&self, name: &str) -> bool {
        *self.get(name) == Value::Unknown
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl Value {
    pub fn from_msgpack(bytes: &[u8]) -> Result<Value, BadValue> {
        let mut rest = bytes;
        let value = from_rmp(rmpv::decode::read_value(&mut rest)?)?;
        if rest.is_empty() { Ok(value) } else { Err(BadValue::Shape("bytes are left over")) }
    }

    pub fn from_json(bytes: &[u8]) -> Result<Value, BadValue> {
        Ok(from_json(serde_json::from_slice(bytes)?))
    }

    pub fn to_msgpack(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = rmpv::encode::write_value(&mut bytes, &to_rmp(self));
        bytes
    }

    /// A resource's attributes; none for null, which stands for "there is no such object".
    pub fn into_object(self) -> Result<Option<Object>, BadValue> {
        match self {
            Value::Null => Ok(None),
            Value::Map(attributes) => Ok(Some(Object(attributes))),
            _ => Err(BadValue::Shape("a resource is an object")),
        }
    }
}

fn from_rmp(value: rmpv::Value) -> Result<Value, BadValue> {
    Ok(match value {
        rmpv::Value::Nil => Value::Null,
        rmpv::Value::Boolean(value) => Value::Bool(value),
        rmpv::Value::Integer(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Value::Number(number.into()),
            (None, Some(number)) => Value::Number(number.into()),
            (None, None) => return Err(BadValue::Shape("an integer is out of range")),
        },
        rmpv::Value::F32(number) => float(number.into())?,
        rmpv::Value::F64(number) => float(number)?,
        rmpv::Value::String(text) => {
            Value::Text(text.into_str().ok_or(BadValue::Shape("a text is not UTF-8"))?)
        }
        rmpv::Value::Binary(_) => return Err(BadValue::Shape("bytes are no value of the language")),
        rmpv::Value::Array(items) => Value::List(items.into_iter().map(from_rmp).collect::<Result<_, _>>()?),
        rmpv::Value::Map(pairs) => {
            let mut map = BTreeMap::new();
            for (key, value) in pairs {
                let Some(key) = key.as_str() else {
                    return Err(BadValue::Shape("a key is not a text"));
                };
                map.insert(key.to_owned(), from_rmp(value)?);
            }
            Value::Map(map)
        }
        // Extensions stand for unknown values, with or without what is known about them.
        rmpv::Value::Ext(..) => Value::Unknown,
    })
}

fn float(number: f64) -> Result<Value, BadValue> {
    Number::from_f64(number).map(Value::Number).ok_or(BadValue::Shape("a number is not finite"))
}

fn to_rmp(value: &Value) -> rmpv::Value {
    match value {
        Value::Unknown => rmpv::Value::Ext(0, vec![0]),
        Value::Null => rmpv::Value::Nil,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.as_f64().unwrap_or_default().into(),
        },
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => rmpv::Value::Array(items.iter().map(to_rmp).collect()),
        Value::Map(map) => {
            rmpv::Value::Map(map.iter().map(|(key, value)| (key.as_str().into(), to_rmp(value))).collect())
        }
    }
}

fn from_json(value: Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => Value::Number(number),
        Json::String(text) => Value::Text(text),
        Json::Array(items) => Value::List(items.into_iter().map(from_json).collect()),
        Json::Object(map) => {
            Value::Map(map.into_iter().map(|(key, value)| (key, from_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_the_wire() {
        let map = [
            ("unknown", Value::Unknown),
            ("null", Value::Null),
            ("bool", true.into()),
            ("large", u64::MAX.into()),
            ("negative", Value::Number((-7).into())),
            ("float", float(0.25).unwrap()),
            ("text", "a\u{1F980}".into()),
            ("list", Value::List(vec!["x".into(), Value::Null])),
        ];
        let value = Value::Map(map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
        assert_eq!(Value::from_msgpack(&value.to_msgpack()).unwrap(), value);
    }

    /// What go-cty writes for `cty.UnknownVal` and for one refined to be not null.
    #[test]
    fn unknown_values_are_read_in_both_forms() {
        assert_eq!(Value::from_msgpack(&[0xd4, 0, 0]).unwrap(), Value::Unknown);
        assert_eq!(Value::from_msgpack(&[0xc7, 3, 12, 0x81, 0x01, 0xc2]).unwrap(), Value::Unknown);
        assert_eq!(Value::Unknown.to_msgpack(), [0xd4, 0, 0]);
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for bytes in [&[][..], &[0x01, 0x02], &[0xa1, 0xff], &[0x81, 0x01, 0x01], &[0xc4, 1, 1]] {
            assert!(Value::from_msgpack(bytes).is_err(), "{bytes:?}");
        }
        assert!(Value::from_json(b"{").is_err());
        assert!(Value::from_json(b"[]").unwrap().into_object().is_err());
        assert!(Value::Null.into_object().unwrap().is_none());
    }
}
