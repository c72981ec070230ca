//! A change of several keys that happens whole or not at all.

/// How often a key was written since it exists; 0 means that it does not exist. The writer knows the version
/// its write will produce (the expected one plus one), so it can go on before the write is durable.
pub type Version = u64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Put(Vec<u8>),
    Delete,
    /// Only checks the version: a child's creation holds only while its parent is what it was.
    Check,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    pub(crate) changes: Vec<(String, Version, Change)>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Writes `key`, whose version must be `expected` (0: it must not exist).
    pub fn put(&mut self, key: impl Into<String>, expected: Version, value: Vec<u8>) {
        self.changes.push((key.into(), expected, Change::Put(value)));
    }

    pub fn delete(&mut self, key: impl Into<String>, expected: Version) {
        self.changes.push((key.into(), expected, Change::Delete));
    }

    pub fn check(&mut self, key: impl Into<String>, expected: Version) {
        self.changes.push((key.into(), expected, Change::Check));
    }
}
