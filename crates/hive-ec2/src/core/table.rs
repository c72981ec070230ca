//! All resources of one kind in one account: a persistent map, so that a copy costs nothing and a change to a
//! copy never shows in the original. A transaction is a copy that is kept or thrown away.

use std::collections::BTreeMap;
use std::sync::Arc;

use eos_store::Version;
use hive_api::ApiResult;
use rpds::RedBlackTreeMapSync;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::id::Kind;
use super::tags::Tags;

/// Something that a Describe lists.
pub trait Listed {
    /// Unique, and the order of listing: a page ends at a key and the next begins after it.
    fn key(&self) -> &str;

    fn tags(&self) -> Option<&Tags> {
        None
    }
}

pub trait Resource: Listed + Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    const KIND: Kind;

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        None
    }
}

#[derive(Clone)]
struct Row<T> {
    version: Version,
    value: Arc<T>,
}

pub struct Table<T> {
    rows: RedBlackTreeMapSync<String, Row<T>>,
    /// Keys changed in this copy, with the version they had before.
    touched: BTreeMap<String, Version>,
}

/// One changed key, ready for the store; no value means deleted.
pub struct Changed {
    pub kind: &'static str,
    pub key: String,
    pub expected: Version,
    pub value: Option<Vec<u8>>,
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), touched: self.touched.clone() }
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { rows: RedBlackTreeMapSync::new_sync(), touched: BTreeMap::new() }
    }
}

impl<T: Resource> Table<T> {
    pub fn get(&self, id: &str) -> Option<&T> {
        self.rows.get(id).map(|row| &*row.value)
    }

    pub fn shared(&self, id: &str) -> Option<Arc<T>> {
        self.rows.get(id).map(|row| Arc::clone(&row.value))
    }

    /// The resource, or the error that EC2 gives for its kind.
    pub fn find(&self, id: &str) -> ApiResult<&T> {
        self.get(id).ok_or_else(|| T::KIND.missing(id))
    }

    pub fn edit(&mut self, id: &str) -> ApiResult<&mut T> {
        let Some(row) = self.rows.get_mut(id) else { return Err(T::KIND.missing(id)) };
        let before = row.version;
        let base = *self.touched.entry(id.to_owned()).or_insert(before);
        row.version = base + 1;
        Ok(Arc::make_mut(&mut row.value))
    }

    pub fn insert(&mut self, value: T) {
        let key = value.key().to_owned();
        let base = match self.touched.get(&key) {
            Some(base) => *base,
            None => self.rows.get(&key).map_or(0, |row| row.version),
        };
        self.touched.insert(key.clone(), base);
        self.rows.insert_mut(key, Row { version: base + 1, value: Arc::new(value) });
    }

    pub fn remove(&mut self, id: &str) -> Option<Arc<T>> {
        let row = self.rows.get(id)?.clone();
        self.touched.entry(id.to_owned()).or_insert(row.version);
        self.rows.remove_mut(id);
        Some(row.value)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.values().map(|row| &*row.value)
    }

    pub fn iter_shared(&self) -> impl Iterator<Item = Arc<T>> {
        self.rows.values().map(|row| Arc::clone(&row.value))
    }

    pub fn len(&self) -> usize {
        self.rows.size()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A record read from the store.
    pub fn load(&mut self, version: Version, value: T) {
        self.rows.insert_mut(value.key().to_owned(), Row { version, value: Arc::new(value) });
    }

    /// What changed since the last call, for the store.
    pub fn take_changes(&mut self, into: &mut Vec<Changed>) -> Result<(), serde_json::Error> {
        for (key, expected) in std::mem::take(&mut self.touched) {
            let value = self.get(&key).map(serde_json::to_vec).transpose()?;
            if value.is_some() || expected > 0 {
                into.push(Changed { kind: T::KIND.name, key, expected, value });
            }
        }
        Ok(())
    }

    /// Drops from memory what the store alone shall keep; not a change.
    pub fn forget_part(&mut self, id: &str, smaller: impl FnOnce(&T) -> T) {
        if let Some(row) = self.rows.get_mut(id) {
            row.value = Arc::new(smaller(&row.value));
        }
    }

    pub fn is_changed(&self) -> bool {
        !self.touched.is_empty()
    }
}
