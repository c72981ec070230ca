//! Typed ids, and what each kind of resource is called in ids, errors and tags.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use hive_api::ApiError;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The names under which a kind of resource appears to clients.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// In tag specifications, `resource-type` filters and record keys.
    pub name: &'static str,
    /// Before the dash of an id.
    pub prefix: &'static str,
    pub not_found: &'static str,
    /// None where EC2's list of error codes has none: then whatever is not there is not found.
    pub malformed: Option<&'static str>,
    /// As error messages call its id.
    pub noun: &'static str,
}

impl Kind {
    pub fn not_found(&self, id: &str) -> ApiError {
        ApiError::client(self.not_found, format!("The {} '{id}' does not exist", self.noun))
    }

    /// `Malformed` for a text that is no id. One of another kind is an id that does not exist, as EC2 says: the provider
    /// takes only `NotFound` for "there is none".
    pub fn missing(&self, id: &str) -> ApiError {
        let is_id = id.rsplit_once('-').is_some_and(|(kind, digits)| is_prefix(kind) && is_number(digits));
        match self.malformed {
            Some(code) if !is_id => {
                ApiError::client(code, format!("Invalid id: \"{id}\" (expecting \"{}-...\")", self.prefix))
            }
            _ => self.not_found(id),
        }
    }

    pub fn is_well_formed(&self, id: &str) -> bool {
        id.strip_prefix(self.prefix).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_number)
    }
}

/// The old short form, or the long one.
fn is_number(digits: &str) -> bool {
    matches!(digits.len(), 8 | 17) && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_prefix(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

/// The id of a `T`: two ids of different kinds cannot be confused.
pub struct Id<T> {
    text: Arc<str>,
    kind: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    /// For ids that were made or checked elsewhere.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), kind: PhantomData }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl<T> std::ops::Deref for Id<T> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.text))
    }
}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<T> Eq for Id<T> {}

impl<T> PartialOrd for Id<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Id<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T> fmt::Display for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T> Serialize for Id<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de, T> Deserialize<'de> for Id<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
