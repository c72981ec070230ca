//! A part of a request that is kept as it came: a field of type `Tree` in a request takes the whole subtree.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::params::Params;

/// How a deserializer of parameters knows that everything below is wanted.
pub(crate) const NAME: &str = "$hive::Tree";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree(pub Params);

/// Under the empty name stands the node's own value.
impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nodes;

        impl<'de> Visitor<'de> for Nodes {
            type Value = Tree;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("parameters")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
                deserializer.deserialize_map(self)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut params = Params::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name.is_empty() {
                        params.value = Some(map.next_value()?);
                    } else {
                        params.children.insert(name, map.next_value::<Tree>()?.0);
                    }
                }
                Ok(Tree(params))
            }
        }
        deserializer.deserialize_newtype_struct(NAME, Nodes)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(value) = &self.0.value {
            map.serialize_entry("", value)?;
        }
        for (name, child) in &self.0.children {
            map.serialize_entry(name, &Tree(child.clone()))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use crate::{Params, decode, form};

    #[test]
    fn a_subtree_is_kept_and_survives_the_store() {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Request {
            data: Tree,
        }
        let params = form::parse(b"Data.A=1&Data.B.2.C=x&Data.B.1.C=").unwrap();
        let decoded = decode::<Request>(&Params::from_pairs(params).unwrap()).unwrap();
        assert!(decoded.unknown.is_empty(), "{:?}", decoded.unknown);
        let tree = decoded.request.data;
        assert_eq!(tree.0.get("A"), Some("1"));
        let stored = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::from_str::<Tree>(&stored).unwrap(), tree);
    }
}
