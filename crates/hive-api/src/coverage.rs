//! Which parameters a typed request knows, read off the type itself, so that coverage cannot lie.
//!
//! A deserializer that hands out no data but notes each struct's field names on the way.

use std::cell::RefCell;

use serde::de::{self, DeserializeOwned, Deserializer, Visitor};

/// The top-level parameter names of a request type.
pub fn parameters<T: DeserializeOwned>() -> Vec<&'static str> {
    let names = RefCell::new(Vec::new());
    // The result does not matter: the names are noted before the visitor is asked for anything.
    let _ = T::deserialize(Probe { names: &names });
    let mut names = names.into_inner();
    names.sort_unstable();
    names
}

struct Probe<'a> {
    names: &'a RefCell<Vec<&'static str>>,
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("only a struct has parameters"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        self.names.borrow_mut().extend_from_slice(fields);
        Err(de::Error::custom("probe"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_come_from_the_type() {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "PascalCase")]
        #[allow(dead_code)]
        struct Request {
            vpc_id: String,
            #[serde(rename = "CIDR")]
            cidr: Option<String>,
        }
        assert_eq!(super::parameters::<Request>(), ["CIDR", "VpcId"]);
    }
}
