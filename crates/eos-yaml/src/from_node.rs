//! From a tree to a typed value through serde, with the place of what does not fit.

use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

use crate::node::{FileId, Mark, Node};

/// A value that has not the shape its reader wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError {
    /// Such as `ports[0].number`; `.` for the whole.
    pub path: String,
    /// What serde says: "unknown field ..., expected ...".
    pub message: String,
    /// The node at the path, or the nearest one around it.
    pub mark: Mark,
    pub file: FileId,
}

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for ShapeError {}

/// Reads a node as `T`.
pub fn from_node<T: DeserializeOwned>(node: &Node) -> Result<T, ShapeError> {
    serde_path_to_error::deserialize(node.to_json()).map_err(|error| {
        let mut nearest = node;
        let mut mark = node.mark;
        for segment in error.path() {
            let next = match segment {
                Segment::Map { key } => nearest.as_map().and_then(|entries| {
                    entries
                        .iter()
                        .find(|(name, _)| name.as_str() == Some(key))
                        .map(|(name, value)| (name.mark, value))
                }),
                Segment::Seq { index } => {
                    nearest.as_list().and_then(|items| items.get(*index)).map(|item| (item.mark, item))
                }
                // A variant of an enum that is not a key of its own stands for the same node.
                Segment::Enum { .. } | Segment::Unknown => continue,
            };
            let Some((at, value)) = next else { break };
            (mark, nearest) = (at, value);
        }
        ShapeError {
            path: error.path().to_string(),
            message: error.inner().to_string(),
            mark,
            file: nearest.file,
        }
    })
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Port {
        #[allow(dead_code)]
        number: u16,
    }

    #[derive(Debug, Deserialize)]
    struct Component {
        #[allow(dead_code)]
        ports: Vec<Port>,
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_line() {
        for (text, path, line) in [
            ("ports:\n  - number: 1\n  - number: many\n", "ports[1].number", 3),
            ("ports:\n  - number: 1\n    nummer: 2\n", "ports[0].nummer", 3),
            ("ports: 3\n", "ports", 1),
        ] {
            let document = crate::parse(Utf8Path::new("c.yaml"), text.as_bytes()).unwrap();
            let error = from_node::<Component>(&document.root).unwrap_err();
            assert_eq!((error.path.as_str(), error.mark.line), (path, line), "{error}");
        }
        let document = crate::parse(Utf8Path::new("c.yaml"), b"ports: [{number: 80}]").unwrap();
        assert_eq!(from_node::<Component>(&document.root).unwrap().ports.len(), 1);
    }
}
