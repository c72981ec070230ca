//! Several batches as one group of writes.
//!
//! Batches are taken in order, each on what the ones before it left; one that conflicts is left out, with whatever
//! depends on it. A key that several of them write is written once, as the last one left it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::index::Last;
use crate::batch::{Batch, Change, Version};
use crate::error::StoreError;

#[derive(Debug, Default)]
pub struct Merged<'a> {
    pub writes: BTreeMap<&'a str, Write<'a>>,
    /// Keys that must stay as they are, and the number of their last message.
    pub checks: BTreeMap<&'a str, u64>,
    /// For each batch, why it is left out.
    pub refused: Vec<Option<StoreError>>,
    /// Keys that a conflict is about.
    pub disputed: BTreeSet<&'a str>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Write<'a> {
    /// The number of the key's last message before the group.
    pub expected: u64,
    pub version: Version,
    /// None: delete.
    pub value: Option<&'a [u8]>,
}

/// `known`: what a key is taken to be. A key that nobody knows is taken to be as the batch says if that is "not
/// there"; the server refuses the group if it is.
pub fn merge<'a>(batches: &[&'a Batch], known: impl Fn(&str) -> Option<Last>) -> Merged<'a> {
    let mut merged = Merged::default();
    let mut versions: HashMap<&str, Version> = HashMap::new();
    let base = |key: &str| known(key).unwrap_or(Last { version: 0, sequence: 0 });
    for batch in batches {
        let conflicts = batch.changes.iter().filter_map(|(key, expected, _)| {
            let actual = versions.get(key.as_str()).copied().unwrap_or_else(|| base(key).version);
            (actual != *expected).then_some((key, *expected, actual))
        });
        let mut first = None;
        for (key, expected, actual) in conflicts {
            merged.disputed.insert(key.as_str());
            first.get_or_insert_with(|| StoreError::Conflict { key: key.clone(), expected, actual });
        }
        if first.is_some() {
            merged.refused.push(first);
            continue;
        }
        merged.refused.push(None);
        for (key, expected, change) in &batch.changes {
            let (version, value) = match change {
                Change::Check => {
                    merged.checks.insert(key, base(key).sequence);
                    continue;
                }
                Change::Put(value) => (expected + 1, Some(value.as_slice())),
                Change::Delete => (0, None),
            };
            versions.insert(key, version);
            merged.writes.insert(key, Write { expected: base(key).sequence, version, value });
        }
    }
    let Merged { writes, checks, .. } = &mut merged;
    // A write checks its own key.
    checks.retain(|key, _| !writes.contains_key(key));
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(changes: &[(&str, Version, Option<&str>)]) -> Batch {
        let mut batch = Batch::default();
        for (key, expected, value) in changes {
            match value {
                Some(value) => batch.put(*key, *expected, value.as_bytes().to_vec()),
                None => batch.delete(*key, *expected),
            }
        }
        batch
    }

    #[test]
    fn a_key_written_twice_is_written_once() {
        let batches = [batch(&[("a", 3, Some("x"))]), batch(&[("a", 4, Some("y")), ("b", 0, Some("z"))])];
        let refs: Vec<_> = batches.iter().collect();
        let merged = merge(&refs, |key| (key == "a").then_some(Last { version: 3, sequence: 70 }));
        assert!(merged.refused.iter().all(Option::is_none));
        assert_eq!(merged.writes["a"], Write { expected: 70, version: 5, value: Some(b"y") });
        assert_eq!(merged.writes["b"], Write { expected: 0, version: 1, value: Some(b"z") });
    }

    #[test]
    fn what_depends_on_a_refused_batch_is_refused() {
        let mut child = batch(&[("c", 0, Some("c"))]);
        child.check("a", 1);
        let batches = [batch(&[("a", 0, Some("x")), ("b", 9, Some("y"))]), child, batch(&[("d", 0, None)])];
        let refs: Vec<_> = batches.iter().collect();
        let merged = merge(&refs, |_| None);
        let keys: Vec<_> = merged.writes.keys().copied().collect();
        assert_eq!((keys, merged.checks.len()), (vec!["d"], 0));
        assert!(
            matches!(&merged.refused[1], Some(StoreError::Conflict { key, actual: 0, .. }) if key == "a")
        );
        assert_eq!(merged.disputed.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
