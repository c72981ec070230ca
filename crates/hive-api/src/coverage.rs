//! Which parameters a typed request knows, read off the type itself, so that coverage cannot lie.
//!
//! A deserializer that hands out no data but notes what is asked of it. Serde stops at the first error, so each struct is
//! walked into once for each of its fields: from the top, by the names that lead there.

use std::cell::RefCell;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};

/// The top-level parameter names of a request type.
pub fn parameters<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut names = match asked_at::<T>(&[]) {
        Asked::Fields(names) => names.to_vec(),
        _ => Vec::new(),
    };
    names.sort_unstable();
    names
}

/// All that a request type takes, at any depth; names without the numbers of lists: `Rule.Port`.
#[derive(Debug, Default)]
pub struct Taken {
    pub names: Vec<String>,
    /// The values of those that have a choice of some.
    pub values: Vec<(String, &'static [&'static str])>,
    /// Below these anything is taken, and looked at elsewhere.
    pub trees: Vec<String>,
}

pub fn taken<T: DeserializeOwned>() -> Taken {
    let mut taken = Taken::default();
    let mut open: Vec<Vec<&'static str>> = vec![Vec::new()];
    while let Some(path) = open.pop() {
        match asked_at::<T>(&path) {
            Asked::Fields(names) => {
                open.extend(names.iter().map(|name| [path.as_slice(), &[*name]].concat()));
            }
            Asked::Values(values) => taken.values.push((path.join("."), values)),
            Asked::Tree => taken.trees.push(path.join(".")),
            Asked::Leaf => {}
        }
        taken.names.push(path.join("."));
    }
    taken.names.retain(|name| !name.is_empty());
    taken.names.sort_unstable();
    taken
}

/// What a type wants where the names lead.
#[derive(Clone, Copy)]
enum Asked {
    Fields(&'static [&'static str]),
    Values(&'static [&'static str]),
    Tree,
    Leaf,
}

fn asked_at<T: DeserializeOwned>(path: &[&'static str]) -> Asked {
    let asked = RefCell::new(Asked::Leaf);
    // The result does not matter: what was asked is noted before the visitor is given anything.
    let _ = T::deserialize(Probe { path, asked: &asked });
    asked.into_inner()
}

struct Probe<'a> {
    /// The names that still lead on.
    path: &'a [&'static str],
    asked: &'a RefCell<Asked>,
}

impl Probe<'_> {
    fn stop<T>(&self, asked: Asked) -> Result<T, de::value::Error> {
        *self.asked.borrow_mut() = asked;
        Err(de::Error::custom("probe"))
    }
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        self.stop(Asked::Leaf)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.path.split_first() {
            None => self.stop(Asked::Fields(fields)),
            Some((name, path)) => {
                visitor.visit_map(One { name: Some(name), value: Some(Probe { path, asked: self.asked }) })
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        self.stop(Asked::Values(variants))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_seq(One { name: None, value: Some(self) })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        if name == crate::tree::NAME { self.stop(Asked::Tree) } else { visitor.visit_newtype_struct(self) }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct map identifier ignored_any
    }
}

/// One field of a struct, or one element of a list.
struct One<'a> {
    name: Option<&'static str>,
    value: Option<Probe<'a>>,
}

impl<'de> MapAccess<'de> for One<'_> {
    type Error = de::value::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        self.name.take().map(|name| seed.deserialize(name.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        match self.value.take() {
            Some(probe) => seed.deserialize(probe),
            None => Err(de::Error::custom("there is one value")),
        }
    }
}

impl<'de> SeqAccess<'de> for One<'_> {
    type Error = de::value::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Self::Error> {
        self.value.take().map(|probe| seed.deserialize(probe)).transpose()
    }
}

#[cfg(test)]
mod tests {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "PascalCase")]
    #[allow(dead_code)]
    struct Request {
        vpc_id: String,
        #[serde(rename = "CIDR")]
        cidr: Option<String>,
        #[serde(default)]
        rule: Vec<Rule>,
        data: Option<crate::Tree>,
    }

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "PascalCase")]
    #[allow(dead_code)]
    struct Rule {
        port: Option<u32>,
        direction: Option<Direction>,
    }

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Direction {
        In,
        Out,
    }

    #[test]
    fn names_come_from_the_type() {
        assert_eq!(super::parameters::<Request>(), ["CIDR", "Data", "Rule", "VpcId"]);
    }

    #[test]
    fn what_is_nested_comes_from_the_type_too() {
        let taken = super::taken::<Request>();
        assert_eq!(taken.names, ["CIDR", "Data", "Rule", "Rule.Direction", "Rule.Port", "VpcId"]);
        assert_eq!(taken.values, [("Rule.Direction".to_owned(), &["in", "out"][..])]);
        assert_eq!(taken.trees, ["Data"]);
    }
}
