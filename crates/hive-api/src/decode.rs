//! Parameters into typed requests, by serde: a request is a struct with `#[serde(rename_all = "PascalCase")]`.
//!
//! What the struct does not name is not lost: its full path is returned, to be counted or refused. Errors
//! name the full path of the parameter. Lists are numbered children in numeric order; gaps are allowed, and
//! whatever else is in them is an error: a list that is shorter than what was asked for may mean everything.

use std::cell::RefCell;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

use crate::error::{ApiError, ApiResult};
use crate::params::{Params, list_index, not_an_element};

pub struct Decoded<T> {
    pub request: T,
    /// Full paths of parameters that the request does not know.
    pub unknown: Vec<String>,
}

pub fn decode<T: DeserializeOwned>(params: &Params) -> ApiResult<Decoded<T>> {
    let unknown = RefCell::new(Vec::new());
    let node = Node { params, path: String::new(), unknown: &unknown };
    let request = T::deserialize(node).map_err(|error| error.0)?;
    Ok(Decoded { request, unknown: unknown.into_inner() })
}

#[derive(Debug)]
pub struct DecodeError(ApiError);

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        DecodeError(ApiError::client("InvalidParameterValue", message.to_string()))
    }

    fn missing_field(field: &'static str) -> Self {
        DecodeError(ApiError::missing_parameter(field))
    }
}

struct Node<'a> {
    params: &'a Params,
    path: String,
    unknown: &'a RefCell<Vec<String>>,
}

impl<'a> Node<'a> {
    fn child(&self, name: &str, params: &'a Params) -> Node<'a> {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Node { params, path, unknown: self.unknown }
    }

    fn fields(&self) -> Fields<'a> {
        let children = self.params.children.iter();
        let fields: Vec<_> =
            children.map(|(name, params)| (name.as_str(), self.child(name, params))).collect();
        Fields { fields: fields.into_iter(), value: None }
    }

    /// The leaf's text. Something nested below a leaf is a mistake that must not pass unseen.
    fn text(&self) -> Result<&'a str, DecodeError> {
        for name in self.params.children.keys() {
            self.unknown.borrow_mut().push(format!("{}.{name}", self.path));
        }
        self.params.value.as_deref().ok_or_else(|| DecodeError(ApiError::missing_parameter(&self.path)))
    }

    fn parse<T: std::str::FromStr>(&self, what: &str) -> Result<T, DecodeError> {
        let text = self.text()?;
        text.parse().map_err(|_| {
            DecodeError(ApiError::invalid_value(&self.path, text, &format!("It must be {what}.")))
        })
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ty),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(self.parse::<$type>("a number")?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = DecodeError;

    integers!(deserialize_u8 visit_u8 u8, deserialize_u16 visit_u16 u16, deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64, deserialize_i32 visit_i32 i32, deserialize_i64 visit_i64 i64);

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let text = self.text()?;
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" => visitor.visit_bool(true),
            "false" | "0" => visitor.visit_bool(false),
            _ => Err(DecodeError(ApiError::invalid_value(&self.path, text, "It must be true or false."))),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name != crate::tree::NAME {
            return visitor.visit_newtype_struct(self);
        }
        visitor.visit_map(Subtree { own: self.params.value.as_deref(), children: self.fields() })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let mut items = Vec::with_capacity(self.params.children.len());
        for (name, params) in &self.params.children {
            let child = self.child(name, params);
            match list_index(name) {
                Some(index) => items.push((index, child)),
                None => return Err(DecodeError(not_an_element(&child.path))),
            }
        }
        if self.params.value.as_deref().is_some_and(|value| !value.is_empty()) {
            // A bare `Foo=x` for a list: EC2 reads it as its only element.
            items.push((0, Node { params: self.params, path: self.path.clone(), unknown: self.unknown }));
        }
        items.sort_by_key(|(index, _)| *index);
        visitor.visit_seq(Items(items.into_iter()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_map(self.fields())
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let text = self.text()?;
        if !variants.contains(&text) {
            let why = format!("Valid values: {}.", variants.join(", "));
            return Err(DecodeError(ApiError::invalid_value(&self.path, text, &why)));
        }
        visitor.visit_enum(IntoDeserializer::<DecodeError>::into_deserializer(text))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.unknown.borrow_mut().push(self.path);
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct identifier
    }
}

struct Items<'a>(std::vec::IntoIter<(u32, Node<'a>)>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        self.0.next().map(|(_, node)| seed.deserialize(node)).transpose()
    }
}

struct Fields<'a> {
    fields: std::vec::IntoIter<(&'a str, Node<'a>)>,
    value: Option<Node<'a>>,
}

/// All that is in a subtree: the node's own value under the empty name, then its children.
struct Subtree<'a> {
    own: Option<&'a str>,
    children: Fields<'a>,
}

impl<'de> MapAccess<'de> for Subtree<'_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        match self.own {
            Some(_) => seed.deserialize(IntoDeserializer::<DecodeError>::into_deserializer("")).map(Some),
            None => self.children.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.own.take() {
            Some(text) => seed.deserialize(IntoDeserializer::<DecodeError>::into_deserializer(text)),
            None => self.children.next_value_seed(seed),
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        let Some((name, node)) = self.fields.next() else { return Ok(None) };
        self.value = Some(node);
        seed.deserialize(IntoDeserializer::<DecodeError>::into_deserializer(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        match self.value.take() {
            Some(node) => seed.deserialize(node),
            None => Err(de::Error::custom("a value was asked for before its name")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "PascalCase")]
    struct Request {
        vpc_id: Option<String>,
        count: Option<u32>,
        #[serde(default)]
        rule: Vec<Rule>,
        #[serde(default)]
        name: Vec<String>,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(rename_all = "PascalCase")]
    struct Rule {
        port: i32,
        open: Option<bool>,
    }

    fn decoded(text: &str) -> ApiResult<Decoded<Request>> {
        decode(&Params::from_pairs(crate::form::parse(text.as_bytes())?)?)
    }

    #[test]
    fn lists_are_in_numeric_order() {
        let answer = decoded("Name.10=c&Name.2=b&Name.1=a&Rule.1.Port=-1&Rule.1.Open=true").unwrap();
        assert_eq!(answer.request.name, ["a", "b", "c"]);
        assert_eq!(answer.request.rule, [Rule { port: -1, open: Some(true) }]);
        assert!(answer.unknown.is_empty());
    }

    #[test]
    fn unknown_parameters_are_named_in_full() {
        let answer = decoded("VpcId=x&VpcId.Deep=1&Rule.1.Port=1&Rule.1.Colour=red&Nope.1.Inner=2").unwrap();
        assert_eq!(answer.unknown, ["Nope", "Rule.1.Colour", "VpcId.Deep"]);
    }

    #[test]
    fn what_is_no_element_of_a_list_is_never_left_out() {
        for wrong in ["x", "0", "01", " 1", "-1", "1x", "", "4294967296", "Port"] {
            let error = decoded(&format!("Name.1=a&Name.{wrong}=b")).err().unwrap();
            assert_eq!(error.code, "MalformedQueryString", "{wrong}");
            assert!(error.message.contains(&format!("Name.{wrong}")), "{}", error.message);
            assert_eq!(decoded(&format!("Rule.{wrong}.Port=1")).err().unwrap().code, "MalformedQueryString");
        }
    }

    #[test]
    fn wrong_types_say_where() {
        let error = decoded("Rule.3.Port=eighty").err().unwrap();
        assert_eq!(error.code, "InvalidParameterValue");
        assert!(error.message.contains("Rule.3.Port"), "{}", error.message);
        assert_eq!(decoded("Rule.1.Open=true").err().unwrap().code, "MissingParameter");
        assert_eq!(decoded("Count=-1").err().unwrap().code, "InvalidParameterValue");
    }
}
