//! Secondary indices: which resources have a value under a field, without looking at all of them.
//!
//! A posting is the hash of field and value, and the key of a resource. Two values may share a hash, so whoever
//! asks checks what is found against the resource itself; nothing that matches is ever missing. Postings of one
//! value stand in the order of keys, which is the order of listing. A copy costs nothing, as of a table.

use std::hash::{Hash, Hasher};
use std::ops::Bound;
use std::sync::Arc;

use rpds::RedBlackTreeSetSync;

use super::filter::is_pattern;
use super::table::Resource;

/// A field of a resource under which it is found. It must be a matter of the resource alone: what another
/// resource says cannot be kept up to date here.
pub struct Field<T: 'static> {
    /// The filters that mean this field.
    pub filters: &'static [&'static str],
    pub values: Values<T>,
}

/// Calls back with every value that a resource has.
type Values<T> = fn(&T, &mut dyn FnMut(&str));

impl<T> Clone for Field<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Field<T> {}

impl<T> Field<T> {
    pub const fn new(filters: &'static [&'static str], values: Values<T>) -> Self {
        Self { filters, values }
    }

    fn name(&self) -> &'static str {
        self.filters.first().copied().unwrap_or_default()
    }

    pub fn place(&self, value: &str) -> Place {
        Place::of(self.name(), value)
    }

    pub fn has(&self, item: &T, value: &str) -> bool {
        let mut found = false;
        (self.values)(item, &mut |own| found |= own == value);
        found
    }
}

/// Where postings of one value stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

impl Place {
    fn of(field: &str, value: &str) -> Place {
        let mut hasher = std::hash::DefaultHasher::new();
        (field, value).hash(&mut hasher);
        // One bit less than there are, so that every place has one behind it.
        Place(hasher.finish() >> 1)
    }

    pub fn of_tag(key: &str, value: &str) -> Place {
        Place::of(&format!("tag:{key}"), value)
    }

    pub fn of_tag_key(key: &str) -> Place {
        Place::of("tag-key", key)
    }
}

/// Where exactly a filter's values stand, if its name is one of an indexed field or a tag.
pub fn places_of_filter<T: Resource>(name: &str, values: &[String]) -> Option<Vec<Place>> {
    if values.iter().any(|value| is_pattern(value)) {
        return None;
    }
    if let Some(key) = name.strip_prefix("tag:") {
        return Some(values.iter().map(|value| Place::of_tag(key, value)).collect());
    }
    if name == "tag-key" {
        return Some(values.iter().map(|key| Place::of_tag_key(key)).collect());
    }
    let field = T::INDEXED.iter().find(|field| field.filters.contains(&name))?;
    Some(values.iter().map(|value| field.place(value)).collect())
}

/// Every place of one resource, sorted, each once.
fn places<T: Resource>(item: &T) -> Vec<Place> {
    let mut all = Vec::new();
    for field in T::INDEXED {
        (field.values)(item, &mut |value| all.push(field.place(value)));
    }
    for (key, value) in item.tags().into_iter().flat_map(|tags| tags.iter()) {
        all.push(Place::of_tag(key, value));
        all.push(Place::of_tag_key(key));
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Posting {
    place: Place,
    key: Arc<str>,
}

#[derive(Clone)]
pub struct Index {
    postings: RedBlackTreeSetSync<Posting>,
}

impl Default for Index {
    fn default() -> Self {
        Self { postings: RedBlackTreeSetSync::new_sync() }
    }
}

impl Index {
    /// What `key` was and what it is now; places that stay are not touched.
    pub fn update<T: Resource>(&mut self, key: &Arc<str>, before: Option<&T>, now: Option<&T>) {
        let before = before.map(places).unwrap_or_default();
        let now = now.map(places).unwrap_or_default();
        for place in before.iter().filter(|place| now.binary_search(place).is_err()) {
            self.postings.remove_mut(&Posting { place: *place, key: Arc::clone(key) });
        }
        for place in now.iter().filter(|place| before.binary_search(place).is_err()) {
            self.postings.insert_mut(Posting { place: *place, key: Arc::clone(key) });
        }
    }

    /// The keys at a place, in order, beginning after a key.
    pub fn keys<'a>(
        &'a self,
        place: Place,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'a Arc<str>> + use<'a> {
        let posting = |place, key: &str| Posting { place, key: Arc::from(key) };
        let start = match after {
            Some(key) => Bound::Excluded(posting(place, key)),
            None => Bound::Included(posting(place, "")),
        };
        let end = Bound::Excluded(posting(Place(place.0 + 1), ""));
        self.postings.range((start, end)).map(|posting| &posting.key)
    }

    /// How many keys are at some places; counting ends at `most`.
    pub fn count(&self, places: &[Place], most: usize) -> usize {
        places.iter().flat_map(|place| self.keys(*place, None)).take(most).count()
    }

    /// The keys at any of some places, in order, each once, beginning after a key.
    pub fn merged<'a>(
        &'a self,
        places: Vec<Place>,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'a Arc<str>> {
        let mut heads: Vec<_> = places.iter().map(|place| self.keys(*place, after).peekable()).collect();
        std::iter::from_fn(move || {
            let first = heads.iter_mut().filter_map(|head| head.peek().copied()).min()?;
            for head in &mut heads {
                head.next_if(|key| *key == first);
            }
            Some(first)
        })
    }
}
