//! All resources of one kind in one account: a persistent map, so that a copy costs nothing and a change to a
//! copy never shows in the original. A transaction is a copy that is kept or thrown away.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use eos_store::Version;
use hive_api::ApiResult;
use hive_api::pattern::literal_beginning;
use rpds::RedBlackTreeMapSync;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::id::Kind;
use super::index::{Digits, Field, Found, Index, behind, digits, first_in_all, key_of};
use super::tags::Tags;
use crate::node::NodeId;

/// Which filters on tags something can be asked for by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagFilters {
    /// `tag:KEY`, `tag-key` and `tag-value`.
    All,
    /// `tag:KEY` alone.
    ByKey,
    /// It never has tags.
    None,
}

/// Something that a Describe lists.
pub trait Listed: Sized + 'static {
    /// What it is looked up by: every filter that is a matter of the resource alone, and what rules ask for. All of it is
    /// indexed in a table, and so are tags.
    const FIELDS: &'static [Field<Self>] = &[];

    /// Unique, and the order of listing: a page ends at a key and the next begins after it.
    fn key(&self) -> &str;

    const TAG_FILTERS: TagFilters = TagFilters::All;

    fn tags(&self) -> Option<&Tags> {
        None
    }

    /// The value of a tag.
    fn tag(&self, key: &str) -> Option<&str> {
        self.tags().and_then(|tags| tags.get(key))
    }

    /// Under what it counts, and as how many: the sums are kept, so that [`Table::tally`] looks at nothing.
    fn tally(&self) -> Option<(&str, u64)> {
        None
    }
}

pub trait Resource: Listed + Serialize + DeserializeOwned + Clone + Send + Sync {
    const KIND: Kind;

    /// Belongs to the account and to no node: its key is the same whoever writes it.
    const OF_NO_NODE: bool = false;

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        None
    }
}

struct Row<T> {
    version: Version,
    /// None: the one that new records belong to here.
    node: Option<NodeId>,
    value: Arc<T>,
}

impl<T> Clone for Row<T> {
    fn clone(&self) -> Self {
        Self { version: self.version, node: self.node.clone(), value: Arc::clone(&self.value) }
    }
}

/// What a key was before this copy changed it.
struct Before<T> {
    version: Version,
    node: Option<NodeId>,
    value: Option<Arc<T>>,
}

impl<T> Clone for Before<T> {
    fn clone(&self) -> Self {
        Self { version: self.version, node: self.node.clone(), value: self.value.clone() }
    }
}

pub struct Table<T> {
    rows: RedBlackTreeMapSync<Arc<str>, Row<T>>,
    /// As of the last [`Table::take_changes`]: what changed since is in `touched`.
    index: Index,
    touched: BTreeMap<Arc<str>, Before<T>>,
}

/// What the store says of a record besides its value.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    pub version: Version,
    pub node: &'a str,
    /// The node of the gateway that reads it.
    pub own: &'a NodeId,
}

/// One changed key, ready for the store; no value means deleted.
pub struct Changed {
    pub kind: &'static str,
    pub key: Arc<str>,
    pub node: NodeId,
    pub expected: Version,
    pub value: Option<Vec<u8>>,
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), index: self.index.clone(), touched: self.touched.clone() }
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { rows: RedBlackTreeMapSync::new_sync(), index: Index::default(), touched: BTreeMap::new() }
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

    /// Notes what is there before the first change to it; gives the version that the change will have, and the node.
    fn touch(&mut self, key: Arc<str>) -> (Version, Option<NodeId>) {
        let row = self.rows.get(&key);
        let before = || Before {
            version: row.map_or(0, |row| row.version),
            node: row.and_then(|row| row.node.clone()),
            value: row.map(|row| Arc::clone(&row.value)),
        };
        let before = self.touched.entry(key).or_insert_with(before);
        (before.version + 1, before.node.clone())
    }

    /// The node that new records belong to, at a gateway of `own`.
    fn home(own: &NodeId) -> NodeId {
        if T::OF_NO_NODE { NodeId::new(NodeId::NONE) } else { own.clone() }
    }

    /// The node that a resource belongs to, at a gateway of `own`.
    pub fn node_of(&self, id: &str, own: &NodeId) -> NodeId {
        self.place(id).unwrap_or_else(|| Self::home(own))
    }

    pub fn edit(&mut self, id: &str) -> ApiResult<&mut T> {
        let Some((key, _)) = self.rows.get_key_value(id) else { return Err(T::KIND.missing(id)) };
        let (version, _) = self.touch(Arc::clone(key));
        let Some(row) = self.rows.get_mut(id) else { return Err(T::KIND.missing(id)) };
        row.version = version;
        Ok(Arc::make_mut(&mut row.value))
    }

    pub fn insert(&mut self, value: T) {
        let key: Arc<str> = value.key().into();
        let (version, node) = self.touch(Arc::clone(&key));
        self.rows.insert_mut(key, Row { version, node, value: Arc::new(value) });
    }

    /// Something new that belongs where `node` was found by [`Table::place`].
    pub fn insert_at(&mut self, node: Option<NodeId>, value: T) {
        let new = Before { version: 0, node, value: None };
        self.touched.entry(value.key().into()).or_insert(new);
        self.insert(value);
    }

    /// The node that a resource belongs to, if it is not this gateway's.
    pub fn place(&self, id: &str) -> Option<NodeId> {
        self.rows.get(id)?.node.clone()
    }

    pub fn remove(&mut self, id: &str) -> Option<Arc<T>> {
        let (key, row) = self.rows.get_key_value(id)?;
        let (key, value) = (Arc::clone(key), Arc::clone(&row.value));
        self.touch(key);
        self.rows.remove_mut(id);
        Some(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.values().map(|row| &*row.value)
    }

    /// Everything after a key, in order.
    pub fn iter_shared(&self, after: Option<&str>) -> impl Iterator<Item = Arc<T>> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.rows.range::<str, _>((start, Bound::Unbounded)).map(|(_, row)| Arc::clone(&row.value))
    }

    /// Those that have `value` under an indexed field.
    pub fn with<'a, 'v>(
        &'a self,
        field: Field<T>,
        value: &'v str,
    ) -> impl Iterator<Item = &'a T> + use<'a, 'v, T> {
        debug_assert!(T::FIELDS.iter().any(|known| known.filters == field.filters));
        let unchanged = self.index.keys(field.place(value)).map(|digits| key_of::<T>(&digits).into());
        let unchanged = unchanged.chain(self.index.others().cloned());
        let unchanged = unchanged.filter(|key: &Arc<str>| !self.touched.contains_key(key));
        let found = unchanged.chain(self.touched.keys().cloned()).filter_map(|key| self.get(&key));
        found.filter(move |item| field.has(item, value))
    }

    /// The sum of what counts under a name.
    pub fn tally(&self, name: &str) -> u64 {
        let of =
            |item: Option<&T>| item.and_then(T::tally).filter(|(own, _)| *own == name).map_or(0, |(_, n)| n);
        let (mut less, mut more) = (0, self.index.tally(name));
        for (before, now) in self.touched() {
            less += of(before);
            more += of(now);
        }
        more - less
    }

    /// Candidates for filters, of which all must match: all that do are among them, in order. None if looking through
    /// everything is no worse.
    pub fn candidates<'a>(
        &'a self,
        filters: Vec<Found>,
        after: Option<&str>,
    ) -> Option<impl Iterator<Item = Arc<T>> + use<'a, T>> {
        /// As many values with one beginning are put in order gladly; for a good part of the table it is not worth it.
        const FEW: usize = 256;
        if !self.touched.is_empty() || self.index.others().next().is_some() {
            return None;
        }
        let from = after.and_then(digits::<T>).map_or(Digits::default(), behind);
        let most = if filters.iter().any(Found::is_in_order) { FEW } else { self.len() / 4 };
        let worth = |found: &Found| found.is_in_order() || self.index.count(found, most + 1) <= most;
        let mut all: Vec<_> =
            filters.into_iter().filter(worth).map(|found| self.index.sorted::<T>(found, from)).collect();
        if all.is_empty() {
            return None;
        }
        let mut next = from;
        let keys = std::iter::from_fn(move || {
            let found = first_in_all(&mut all, next)?;
            next = behind(found);
            Some(found)
        });
        Some(keys.filter_map(|digits| self.shared(&key_of::<T>(&digits))))
    }

    /// Where all stands whose key matches; None if that may be anywhere, or a good part of the table.
    pub fn keys_like(&self, pattern: &str) -> Option<Found> {
        let Some(beginning) = literal_beginning(pattern) else {
            return Some(Found::keys([pattern.to_owned()]));
        };
        let from = (Bound::Included(beginning), Bound::Unbounded);
        let all = self.rows.range::<str, _>(from).map(|(key, _)| key);
        let most = self.len() / 4;
        let keys: Vec<String> = all
            .take_while(|key| key.starts_with(beginning))
            .take(most + 1)
            .map(|key| key.to_string())
            .collect();
        (keys.len() <= most).then(|| Found::keys(keys))
    }

    /// Those that can stand somewhere; everything if that may be anywhere.
    pub fn narrowed(&self, found: Option<Found>) -> Box<dyn Iterator<Item = Arc<T>> + '_> {
        match found.and_then(|found| self.candidates(vec![found], None)) {
            Some(candidates) => Box::new(candidates),
            None => Box::new(self.iter_shared(None)),
        }
    }

    pub fn len(&self) -> usize {
        self.rows.size()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A record as the store has it; what was there before is replaced.
    pub fn load(&mut self, stored: Stored<'_>, value: T) {
        let key: Arc<str> = value.key().into();
        let before = self.shared(&key);
        self.index.update(&key, before.as_deref(), Some(&value));
        let node = (Self::home(stored.own).as_str() != stored.node).then(|| NodeId::new(stored.node));
        self.rows.insert_mut(key, Row { version: stored.version, node, value: Arc::new(value) });
    }

    /// A record that the store no longer has.
    pub fn unload(&mut self, id: &str) {
        if let Some((key, row)) = self.rows.get_key_value(id) {
            let (key, value) = (Arc::clone(key), Arc::clone(&row.value));
            self.index.update(&key, Some(&*value), None);
            self.rows.remove_mut(id);
        }
    }

    /// What changed since the last call, for the store; the index follows.
    pub fn take_changes(&mut self, own: &NodeId, into: &mut Vec<Changed>) -> Result<(), serde_json::Error> {
        for (key, before) in std::mem::take(&mut self.touched) {
            let now = self.rows.get(&key).map(|row| Arc::clone(&row.value));
            self.index.update(&key, before.value.as_deref(), now.as_deref());
            let value = now.as_deref().map(serde_json::to_vec).transpose()?;
            if value.is_some() || before.version > 0 {
                let node = before.node.unwrap_or_else(|| Self::home(own));
                into.push(Changed { kind: T::KIND.name, key, node, expected: before.version, value });
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

    /// What changed in this copy: as it was before, and as it is.
    pub fn touched(&self) -> impl Iterator<Item = (Option<&T>, Option<&T>)> {
        self.touched.iter().map(|(key, before)| (before.value.as_deref(), self.get(key)))
    }

    pub fn is_changed(&self) -> bool {
        !self.touched.is_empty()
    }
}
