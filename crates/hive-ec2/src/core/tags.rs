//! Tags and their limits, checked wherever they enter.

use std::collections::BTreeMap;

use hive_api::{ApiError, ApiResult};
use serde::{Deserialize, Serialize};

const MAX_TAGS: usize = 50;

/// Sorted by key, as EC2 lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(BTreeMap<String, String>);

impl Tags {
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn set(&mut self, key: String, value: String) -> ApiResult<()> {
        check(&key, &value)?;
        self.0.insert(key, value);
        if self.0.keys().filter(|key| !is_reserved(key)).count() > MAX_TAGS {
            return Err(ApiError::client("TagLimitExceeded", format!("More than {MAX_TAGS} tags specified")));
        }
        Ok(())
    }

    /// A tag that only this side sets; it does not count towards the limit.
    pub fn set_reserved(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }

    /// Removes `key`; with a value, only if the tag has that value.
    pub fn unset(&mut self, key: &str, value: Option<&str>) {
        if !is_reserved(key) && value.is_none_or(|value| self.get(key) == Some(value)) {
            self.0.remove(key);
        }
    }

    pub fn clear(&mut self) {
        self.0.retain(|key, _| is_reserved(key));
    }
}

fn is_reserved(key: &str) -> bool {
    key.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("aws:"))
}

fn check(key: &str, value: &str) -> ApiResult<()> {
    let refuse = |why: &str| Err(ApiError::client("InvalidParameterValue", why.to_owned()));
    match (key.chars().count(), value.chars().count()) {
        (0, _) => refuse("Tag key cannot be null or empty."),
        (128.., _) => refuse("Tag key exceeds the maximum length of 127 characters"),
        (_, 257..) => refuse("Tag value exceeds the maximum length of 256 characters"),
        _ if is_reserved(key) => refuse("Tag keys starting with 'aws:' are reserved for internal use"),
        _ => Ok(()),
    }
}
