//! Salt's pillar merge (`smart`, which is `recurse` for plain YAML): mappings are merged key by key, anything
//! else is replaced by the later one, lists too.
//!
//! Keys keep the place they had in the base and new ones follow. Every leaf keeps the file and mark of the
//! document that won; a merged mapping keeps those of the base.

use std::collections::HashMap;
use std::sync::Arc;

use crate::node::{Node, Value};

pub fn merge(base: Node, over: Node) -> Node {
    merge_unless(base, over, &mut |_, _, _| false)
}

/// Like [`merge`], but for mappings with something in them that would give way to what is no mapping: of each it is asked
/// whether it stays, by the keys that lead to it, the last of them as it stands over the other value, and that value.
pub fn merge_unless(base: Node, over: Node, stays: &mut dyn FnMut(&[String], &Node, &Node) -> bool) -> Node {
    let mut merging = Merging { keys: Vec::new(), stays };
    merging.nodes(base, over)
}

struct Merging<'s> {
    /// Those that lead to where the two are laid over each other.
    keys: Vec<String>,
    stays: &'s mut dyn FnMut(&[String], &Node, &Node) -> bool,
}

impl Merging<'_> {
    fn nodes(&mut self, base: Node, over: Node) -> Node {
        match (base, over) {
            (Node { value: Value::Map(base), mark, file }, Node { value: Value::Map(over), .. }) => {
                let merged = self.maps(Arc::unwrap_or_clone(base), Arc::unwrap_or_clone(over));
                Node { value: Value::map(merged), mark, file }
            }
            (_, over) => over,
        }
    }

    fn maps(&mut self, mut base: Vec<(Node, Node)>, over: Vec<(Node, Node)>) -> Vec<(Node, Node)> {
        // An index pays only when both sides are large: most pillar files have a handful of keys.
        let index: Option<HashMap<String, usize>> = (over.len() > 16 && base.len() > 16).then(|| {
            base.iter()
                .enumerate()
                .filter_map(|(at, (key, _))| Some((key.as_str()?.to_owned(), at)))
                .collect()
        });
        for (key, value) in over {
            let found = match &index {
                Some(index) => key.as_str().and_then(|name| index.get(name).copied()),
                None => base.iter().position(|(name, _)| name.as_str() == key.as_str()),
            };
            match found {
                None => base.push((key, value)),
                Some(at) => {
                    let (old_key, old_value) = &mut base[at];
                    let old = std::mem::replace(old_value, Node { value: Value::Null, ..value });
                    self.keys.push(key.as_str().unwrap_or_default().to_owned());
                    let gives_way = old.as_map().is_some_and(|entries| !entries.is_empty());
                    if value.as_map().is_some() && old.as_map().is_some() {
                        *old_value = self.nodes(old, value);
                    } else if gives_way && (self.stays)(&self.keys, &key, &value) {
                        *old_value = old;
                    } else {
                        // The key that sets the winning value is the one to show.
                        (*old_key, *old_value) = (key, value);
                    }
                    self.keys.pop();
                }
            }
        }
        base
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use crate::node::{FileId, Node};
    use crate::parse::parse;
    use crate::sources::Sources;

    fn read(sources: &mut Sources, number: u32, file: &str, text: &str) -> Node {
        let document = parse(Utf8Path::new(file), text.as_bytes()).unwrap();
        sources.add(&document.numbered(FileId(number)))
    }

    fn json(node: &Node) -> String {
        node.to_json().to_string()
    }

    #[test]
    fn maps_merge_lists_and_scalars_are_replaced_and_leaves_keep_their_file() {
        let mut sources = Sources::new();
        let base = read(&mut sources, 1, "base.sls", "a:\n  x: 1\n  l: [1, 2]\n  m: {k: v}\nb: 2\n");
        let over = "c: 3\na:\n  l: [3]\n  y: 5\n  m: text\nb: {n: 1}\n";
        let over = read(&mut sources, 2, "over.sls", over);
        let merged = super::merge(base, over);
        assert_eq!(json(&merged), r#"{"a":{"x":1,"l":[3],"m":"text","y":5},"b":{"n":1},"c":3}"#);
        let a = merged.get("a").unwrap();
        let file = |key: &str| sources.place_of(a.get(key).unwrap()).unwrap().file.into_string();
        assert_eq!(file("x"), "base.sls");
        assert_eq!(file("l"), "over.sls");
        let place = sources.place_of(a.get("y").unwrap()).unwrap();
        assert_eq!((place.line, place.column, place.text.as_str()), (4, 6, "  y: 5"));
    }

    #[test]
    fn large_maps_merge_like_small_ones() {
        let mut sources = Sources::new();
        let text = |from: u32| (from..from + 40).map(|n| format!("k{n}: {from}\n")).collect::<String>();
        let base = read(&mut sources, 1, "a", &text(0));
        let over = read(&mut sources, 2, "b", &text(20));
        let merged = super::merge(base, over);
        assert_eq!(merged.as_map().unwrap().len(), 60);
        assert_eq!(merged.get("k19").unwrap().as_i64(), Some(0));
        assert_eq!(merged.get("k20").unwrap().as_i64(), Some(20));
    }
}
