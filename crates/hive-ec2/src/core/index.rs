//! Secondary indices: which resources have a value under a field, without looking at all of them.
//!
//! A posting is a place, which stands for a field and a value, and the key of a resource. Two values may share a
//! place, so whoever asks checks what is found against the resource itself; nothing that matches is ever missing.
//! Postings of one value stand in the order of keys, which is the order of listing; those of values that begin alike
//! stand together. A copy costs nothing, as of a table.

use std::sync::Arc;

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};
use serde::Serialize;
use serde_json::Value;

use super::postings::{Cursor, Posting, Postings, WIDTH};
#[cfg(doc)]
use super::table::Table;
use super::table::{Listed, Resource};
use hive_api::pattern::{is_pattern, literal_beginning, matches};

/// A field of a resource under which it is found, and the filters that mean it. It must be a matter of the resource
/// alone: what another resource says cannot be kept up to date here.
pub struct Field<T: 'static> {
    pub filters: &'static [&'static str],
    pub values: Values<T>,
    number: u32,
    /// It is the resource's key: nothing need be kept to find it.
    pub is_key: bool,
    /// What nearly all have: it is not kept, since whoever asks for it is answered with nearly all.
    usual: Option<&'static str>,
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
        Self { filters, values, number: hash(FIELD, filters[0].as_bytes()), is_key: false, usual: None }
    }

    /// One of which nearly all resources have the same value: only the others are found by it.
    pub const fn usually(usual: &'static str, filters: &'static [&'static str], values: Values<T>) -> Self {
        Self { usual: Some(usual), ..Self::new(filters, values) }
    }

    /// A name in parentheses is for rules alone: no filter means it.
    pub fn is_a_filter(name: &str) -> bool {
        !name.starts_with('(')
    }

    pub fn place(&self, value: &str) -> Place {
        debug_assert!(self.usual.is_none(), "{:?} is not kept for all", self.filters);
        Place::of(self.number, value)
    }

    /// Where all stands that has a value which matches; None if that may be anywhere. Patterns of keys are for
    /// [`Table::keys_like`].
    pub fn found(&self, pattern: &str) -> Option<Found> {
        if self.is_key {
            return (!is_pattern(pattern)).then(|| Found::keys([pattern.to_owned()]));
        }
        if self.usual.is_some_and(|usual| matches(pattern, usual)) {
            return None;
        }
        Place::of_pattern(self.number, pattern).map(Found::at)
    }

    /// Where all stands that has one of these values.
    pub fn found_any<'v>(&self, values: impl IntoIterator<Item = &'v str>) -> Option<Found> {
        values.into_iter().map(|value| self.found(value)).collect()
    }

    /// Where all stands that has a value, whatever it is.
    pub fn all(&self) -> Found {
        debug_assert!(self.usual.is_none() && !self.is_key, "{:?} is not kept for all", self.filters);
        Found::at(Place::of_beginning(self.number, ""))
    }

    pub fn has(&self, item: &T, value: &str) -> bool {
        let mut found = false;
        (self.values)(item, &mut |own| found |= own == value);
        found
    }
}

impl<T: Listed> Field<T> {
    pub const fn key(filters: &'static [&'static str]) -> Self {
        Self { is_key: true, ..Self::new(filters, |item, each| each(item.key())) }
    }
}

/// The value of a field that is always there.
pub fn one(value: impl ToString, each: &mut dyn FnMut(&str)) {
    each(&value.to_string());
}

/// The value of a field that may be absent.
pub fn maybe(value: Option<impl ToString>, each: &mut dyn FnMut(&str)) {
    value.into_iter().for_each(|value| each(&value.to_string()));
}

/// The value of a field as answers write it.
pub fn word(value: impl Serialize, each: &mut dyn FnMut(&str)) {
    if let Ok(Value::String(text)) = serde_json::to_value(value) {
        each(&text);
    }
}

/// FNV-1a; from different beginnings, so that equal texts in different roles differ.
const fn hash(mut hash: u32, bytes: &[u8]) -> u32 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

const FIELD: u32 = 0x811c_9dc5;
const TAG: u32 = FIELD + 1;
const VALUE: u32 = FIELD + 2;
const TAG_KEY: (&str, u32) = ("tag-key", FIELD + 3);
const TAG_VALUE: (&str, u32) = ("tag-value", FIELD + 4);

/// How much of a value orders its postings.
const HEAD: usize = 12;
const PLACE: usize = 4 + HEAD + 4;

/// Where postings stand: field, then values in their order as far as their beginning tells it, then a hash of the whole
/// value. Shorter than that it stands for all values with one beginning.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    bytes: [u8; PLACE],
    length: usize,
}

impl Place {
    fn of(field: u32, value: &str) -> Place {
        let mut place = Place::of_beginning(field, value);
        place.length = PLACE;
        place.bytes[4 + HEAD..].copy_from_slice(&hash(VALUE, value.as_bytes()).to_be_bytes());
        place
    }

    fn of_beginning(field: u32, beginning: &str) -> Place {
        let mut bytes = [0; PLACE];
        bytes[..4].copy_from_slice(&field.to_be_bytes());
        let length = beginning.len().min(HEAD);
        bytes[4..4 + length].copy_from_slice(&beginning.as_bytes()[..length]);
        Place { bytes, length: 4 + length }
    }

    /// None if it may be anywhere.
    fn of_pattern(field: u32, pattern: &str) -> Option<Place> {
        match literal_beginning(pattern) {
            None => Some(Place::of(field, pattern)),
            Some("") => None,
            Some(beginning) => Some(Place::of_beginning(field, beginning)),
        }
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn is_of_one_value(&self) -> bool {
        self.length == PLACE
    }

    fn posting(&self, key: Digits) -> Posting {
        let mut posting = [0; WIDTH];
        posting[..PLACE].copy_from_slice(&self.bytes);
        posting[PLACE..].copy_from_slice(&key);
        posting
    }
}

/// The 17 digits of an id, which come in the order of the ids.
pub type Digits = [u8; WIDTH - PLACE];

/// None for a key that is no id of this kind.
pub fn digits<T: Resource>(key: &str) -> Option<Digits> {
    let text = key.strip_prefix(T::KIND.prefix)?.strip_prefix('-')?.as_bytes();
    let mut digits = [0; WIDTH - PLACE];
    if text.len() != 2 * digits.len() - 1 {
        return None;
    }
    for (at, byte) in text.iter().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        digits[at / 2] |= if at % 2 == 0 { digit << 4 } else { digit };
    }
    Some(digits)
}

pub fn key_of<T: Resource>(digits: &Digits) -> String {
    let mut key = format!("{}-{}", T::KIND.prefix, super::text::hex(digits));
    key.pop();
    key
}

/// Where all stands that a filter can match: at one of some places, or under one of some keys.
#[derive(Default)]
pub struct Found {
    places: Vec<Place>,
    keys: Vec<String>,
}

impl Found {
    pub fn nothing() -> Found {
        Found::default()
    }

    pub fn keys(keys: impl IntoIterator<Item = String>) -> Found {
        Found { places: Vec::new(), keys: keys.into_iter().collect() }
    }

    fn at(place: Place) -> Found {
        Found { places: vec![place], keys: Vec::new() }
    }

    /// This, or what stands elsewhere.
    pub fn or(mut self, other: Found) -> Found {
        self.places.extend(other.places);
        self.keys.extend(other.keys);
        self
    }

    /// How many places and keys there are.
    pub fn size(&self) -> usize {
        self.places.len() + self.keys.len()
    }

    /// Without sorting a good part of the table.
    pub fn is_in_order(&self) -> bool {
        self.places.is_empty() || self.is_of_values()
    }

    /// Each step looks at every run, so they must not be many.
    fn is_of_values(&self) -> bool {
        const MOST: usize = 256;
        self.keys.is_empty() && self.places.len() <= MOST && self.places.iter().all(Place::is_of_one_value)
    }
}

impl FromIterator<Found> for Found {
    fn from_iter<I: IntoIterator<Item = Found>>(all: I) -> Found {
        all.into_iter().fold(Found::nothing(), Found::or)
    }
}

/// Where all stands that a filter on tags can match; None if that may be anywhere, or the filter is on something else.
pub fn found_by_tag(name: &str, pattern: &str) -> Option<Found> {
    let number = match name.strip_prefix("tag:") {
        Some(key) => hash(TAG, key.as_bytes()),
        None => [TAG_KEY, TAG_VALUE].into_iter().find(|(known, _)| *known == name)?.1,
    };
    Place::of_pattern(number, pattern).map(Found::at)
}

/// Every posting of one resource, sorted, each once.
fn postings<T: Resource>(item: &T, key: Digits) -> Vec<Posting> {
    let mut all = Vec::new();
    for field in T::FIELDS.iter().filter(|field| !field.is_key) {
        let (before, mut is_usual) = (all.len(), field.usual.is_some());
        (field.values)(item, &mut |value| {
            is_usual &= field.usual == Some(value) && all.len() == before;
            all.push(Place::of(field.number, value).posting(key));
        });
        if is_usual {
            all.truncate(before);
        }
    }
    for (name, value) in item.tags().into_iter().flat_map(|tags| tags.iter()) {
        all.push(Place::of(hash(TAG, name.as_bytes()), value).posting(key));
        all.push(Place::of(TAG_KEY.1, name).posting(key));
        all.push(Place::of(TAG_VALUE.1, value).posting(key));
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[derive(Clone)]
pub struct Index {
    postings: Postings,
    /// Keys that are no ids: whoever looks for anything has to look at these, too.
    others: RedBlackTreeSetSync<Arc<str>>,
    /// What resources count as, summed up under each name.
    tallies: RedBlackTreeMapSync<Arc<str>, u64>,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            postings: Postings::default(),
            others: RedBlackTreeSetSync::new_sync(),
            tallies: RedBlackTreeMapSync::new_sync(),
        }
    }
}

impl Index {
    /// What `key` was and what it is now; postings that stay are not touched.
    pub fn update<T: Resource>(&mut self, key: &Arc<str>, before: Option<&T>, now: Option<&T>) {
        let (less, more) = (before.and_then(T::tally), now.and_then(T::tally));
        if less != more {
            more.into_iter().for_each(|(name, number)| self.set_tally(name, self.tally(name) + number));
            less.into_iter().for_each(|(name, number)| self.set_tally(name, self.tally(name) - number));
        }
        if T::FIELDS.is_empty() && before.or(now).is_none_or(|item| item.tags().is_none()) {
            return;
        }
        let Some(digits) = digits::<T>(key) else {
            match now {
                Some(_) => self.others.insert_mut(Arc::clone(key)),
                None => drop(self.others.remove_mut(key)),
            }
            return;
        };
        let before = before.map(|item| postings(item, digits)).unwrap_or_default();
        let now = now.map(|item| postings(item, digits)).unwrap_or_default();
        for posting in before.iter().filter(|posting| now.binary_search(posting).is_err()) {
            self.postings.remove(posting);
        }
        for posting in now.iter().filter(|posting| before.binary_search(posting).is_err()) {
            self.postings.insert(*posting);
        }
    }

    pub fn tally(&self, name: &str) -> u64 {
        self.tallies.get(name).copied().unwrap_or_default()
    }

    fn set_tally(&mut self, name: &str, sum: u64) {
        if sum == 0 {
            self.tallies.remove_mut(name);
        } else {
            self.tallies.insert_mut(name.into(), sum);
        }
    }

    pub fn others(&self) -> impl Iterator<Item = &Arc<str>> {
        self.others.iter()
    }

    /// The keys at a place; in order if it is of one value.
    pub fn keys(&self, place: Place) -> Run<'_> {
        Run { cursor: self.postings.from(place.as_slice()), place, index: self }
    }

    /// How many postings there are; counting ends at `most`.
    pub fn count(&self, found: &Found, most: usize) -> usize {
        found.keys.len() + found.places.iter().flat_map(|place| self.keys(*place)).take(most).count()
    }

    /// The keys that a filter finds, in order, each once, from `from` on.
    pub fn sorted<T: Resource>(&self, found: Found, from: Digits) -> Sorted<'_> {
        if found.is_of_values() {
            let runs = found.places.iter().map(|place| self.keys(*place));
            return Sorted::Runs(runs.map(|mut run| (run.go_to(&from), run)).collect());
        }
        let keys = found.keys.iter().filter_map(|key| digits::<T>(key));
        let keys = keys.chain(found.places.iter().flat_map(|place| self.keys(*place)));
        let mut keys: Vec<_> = keys.filter(|key| *key >= from).collect();
        keys.sort_unstable();
        keys.dedup();
        Sorted::List(keys.into_iter().peekable())
    }
}

/// The keys at one place.
pub struct Run<'a> {
    place: Place,
    cursor: Cursor<'a>,
    index: &'a Index,
}

impl Iterator for Run<'_> {
    type Item = Digits;

    fn next(&mut self) -> Option<Digits> {
        let posting = self.cursor.next()?;
        posting.starts_with(self.place.as_slice()).then(|| key_in(posting))
    }
}

impl Run<'_> {
    /// The first key that is not before `key`. A few steps are cheaper than to look for it.
    fn go_to(&mut self, key: &Digits) -> Option<Digits> {
        const STEPS: usize = 16;
        for _ in 0..STEPS {
            match self.next() {
                Some(found) if found < *key => {}
                found => return found,
            }
        }
        self.cursor = self.index.postings.from(&self.place.posting(*key));
        self.next()
    }
}

fn key_in(posting: &Posting) -> Digits {
    let mut key = [0; WIDTH - PLACE];
    key.copy_from_slice(&posting[PLACE..]);
    key
}

/// Keys in order, each once: of several runs or of a list.
pub enum Sorted<'a> {
    Runs(Vec<(Option<Digits>, Run<'a>)>),
    List(std::iter::Peekable<std::vec::IntoIter<Digits>>),
}

impl Sorted<'_> {
    /// The first key that is not before `key`; asked for in order.
    pub fn go_to(&mut self, key: &Digits) -> Option<Digits> {
        match self {
            Sorted::List(keys) => {
                while keys.next_if(|next| next < key).is_some() {}
                keys.peek().copied()
            }
            Sorted::Runs(runs) => {
                for (head, run) in runs.iter_mut() {
                    if head.is_some_and(|head| head < *key) {
                        *head = run.go_to(key);
                    }
                }
                runs.iter().filter_map(|(head, _)| *head).min()
            }
        }
    }
}

/// The first key from `key` on that is in all of them.
pub fn first_in_all(all: &mut [Sorted<'_>], mut key: Digits) -> Option<Digits> {
    loop {
        let mut same = true;
        for sorted in all.iter_mut() {
            let found = sorted.go_to(&key)?;
            same &= found == key;
            key = found;
        }
        if same {
            return Some(key);
        }
    }
}

/// The key behind a key.
pub fn behind(mut key: Digits) -> Digits {
    for byte in key.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
    key
}
