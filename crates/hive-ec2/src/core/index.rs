//! Secondary indices: which resources have a value under a field, without looking at all of them.
//!
//! A posting is a place, which stands for a field and a value, and the key of a resource. Two values may share a
//! place, so whoever asks checks what is found against the resource itself; nothing that matches is ever missing.
//! Postings of one value stand in the order of keys, which is the order of listing; those of values that begin alike
//! stand together. A copy costs nothing, as of a table.

use std::hash::{Hash, Hasher};
use std::ops::Bound;
use std::sync::Arc;

use rpds::RedBlackTreeSetSync;

use super::filter::literal_beginning;
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

    fn number(&self) -> u32 {
        hash(self.filters.first())
    }

    pub fn places(&self, value: &str) -> Places {
        Places::of_value(Place::of(self.number(), value))
    }

    pub fn has(&self, item: &T, value: &str) -> bool {
        let mut found = false;
        (self.values)(item, &mut |own| found |= own == value);
        found
    }
}

/// Where postings of one value stand: by field, then in the order of values as far as their beginning tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    field: u32,
    head: [u8; HEAD],
    /// A hash of the whole value.
    rest: u32,
}

/// How much of a value orders its postings.
const HEAD: usize = 12;

/// The beginning of a value, and its end filled up.
fn head(value: &str, fill: u8) -> [u8; HEAD] {
    let mut head = [fill; HEAD];
    for (to, from) in head.iter_mut().zip(value.bytes()) {
        *to = from;
    }
    head
}

fn hash(value: impl Hash) -> u32 {
    let mut hasher = std::hash::DefaultHasher::new();
    value.hash(&mut hasher);
    // Never the largest number, so that every place has one behind it.
    (hasher.finish() >> 33) as u32
}

impl Place {
    fn of(field: u32, value: &str) -> Place {
        Place { field, head: head(value, 0), rest: hash(value) }
    }

    fn of_tag(key: &str, value: &str) -> Place {
        Place::of(tag_field(key), value)
    }

    fn of_tag_key(key: &str) -> Place {
        Place::of(hash(TAG_KEY), key)
    }
}

const TAG_KEY: &str = "tag-key";

fn tag_field(key: &str) -> u32 {
    hash(("tag", key))
}

/// Places that follow each other: those of one value, or of all values with one beginning.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    first: Place,
    /// The first one behind them.
    end: Place,
}

impl Places {
    fn of_value(place: Place) -> Places {
        Places { first: place, end: Place { rest: place.rest + 1, ..place } }
    }

    /// Byte 255 is in no text.
    fn of_beginning(field: u32, beginning: &str) -> Places {
        Places {
            first: Place { field, head: head(beginning, 0), rest: 0 },
            end: Place { field, head: head(beginning, 0xff), rest: u32::MAX },
        }
    }

    /// Keys at such places are not in order.
    pub fn are_of_many_values(&self) -> bool {
        self.end.rest != self.first.rest + 1
    }

    fn of_pattern(field: u32, pattern: &str) -> Option<Places> {
        match literal_beginning(pattern) {
            None => Some(Places::of_value(Place::of(field, pattern))),
            Some("") => None,
            Some(beginning) => Some(Places::of_beginning(field, beginning)),
        }
    }
}

/// Where all stands that a filter can match, if its name is one of an indexed field or a tag, and no value begins
/// with a wildcard.
pub fn places_of_filter<T: Resource>(name: &str, values: &[String]) -> Option<Vec<Places>> {
    let field = if let Some(key) = name.strip_prefix("tag:") {
        tag_field(key)
    } else if name == TAG_KEY {
        hash(TAG_KEY)
    } else {
        T::INDEXED.iter().find(|field| field.filters.contains(&name))?.number()
    };
    values.iter().map(|value| Places::of_pattern(field, value)).collect()
}

/// Every place of one resource, sorted, each once.
fn places<T: Resource>(item: &T) -> Vec<Place> {
    let mut all = Vec::new();
    for field in T::INDEXED {
        let number = field.number();
        (field.values)(item, &mut |value| all.push(Place::of(number, value)));
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

    fn postings(&self, places: Places, after: Option<&str>) -> impl Iterator<Item = &Posting> + use<'_> {
        let posting = |place, key: &str| Posting { place, key: Arc::from(key) };
        let start = match after {
            Some(key) => Bound::Excluded(posting(places.first, key)),
            None => Bound::Included(posting(places.first, "")),
        };
        self.postings.range((start, Bound::Excluded(posting(places.end, ""))))
    }

    /// The keys at the places of one value, in order.
    pub fn keys(&self, places: Places) -> impl Iterator<Item = &Arc<str>> + use<'_> {
        self.postings(places, None).map(|posting| &posting.key)
    }

    /// How many postings there are; counting ends at `most`.
    pub fn count(&self, places: &[Places], most: usize) -> usize {
        places.iter().flat_map(|places| self.postings(*places, None)).take(most).count()
    }

    /// The keys at any of some places, in order, each once, beginning after a key.
    pub fn merged<'a>(
        &'a self,
        places: Vec<Places>,
        after: Option<&'a str>,
    ) -> Box<dyn Iterator<Item = &'a Arc<str>> + 'a> {
        if places.iter().any(Places::are_of_many_values) {
            let all = places.into_iter().flat_map(|places| self.keys(places));
            let mut keys: Vec<_> = all.filter(|key| after.is_none_or(|after| &***key > after)).collect();
            keys.sort_unstable();
            keys.dedup();
            return Box::new(keys.into_iter());
        }
        let keys = |places: &Places| self.postings(*places, after).map(|posting| &posting.key).peekable();
        let mut heads: Vec<_> = places.iter().map(keys).collect();
        Box::new(std::iter::from_fn(move || {
            let first = heads.iter_mut().filter_map(|head| head.peek().copied()).min()?;
            for head in &mut heads {
                head.next_if(|key| *key == first);
            }
            Some(first)
        }))
    }
}
