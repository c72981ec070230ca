//! Pagination: a token names the last key that was given out, so a page never repeats or skips a survivor,
//! whatever is created or deleted in between.

use std::ops::Deref;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hive_api::{ApiError, ApiResult};
use serde::ser::{Serialize, SerializeStruct, Serializer};

pub struct Page<T> {
    pub items: Vec<T>,
    pub next_token: Option<String>,
}

impl<T: Deref> Page<T> {
    pub fn listing<V>(self, name: &'static str, view: impl Fn(&T::Target) -> V) -> Listing<V> {
        self.listing_some(name, |item| Some(view(item)))
    }

    pub fn listing_some<V>(self, name: &'static str, view: impl Fn(&T::Target) -> Option<V>) -> Listing<V> {
        let items = self.items.iter().filter_map(|item| view(item)).collect();
        Listing { name, items, next_token: self.next_token }
    }
}

/// The answer of most Describes: a page under the element's name.
pub struct Listing<V> {
    name: &'static str,
    items: Vec<V>,
    next_token: Option<String>,
}

impl<V> Listing<V> {
    pub fn none(name: &'static str) -> Self {
        Self { name, items: Vec::new(), next_token: None }
    }
}

impl<V: Serialize> Serialize for Listing<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut answer = serializer.serialize_struct("Listing", 2)?;
        answer.serialize_field(self.name, &self.items)?;
        answer.serialize_field("nextToken", &self.next_token)?;
        answer.end()
    }
}

/// A token is bound to its action: one action's token is no good for another.
pub fn token(action: &str, last_key: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("1\n{action}\n{last_key}"))
}

/// The key after which the page begins.
pub fn read_token(action: &str, token: &str) -> ApiResult<String> {
    let invalid = || ApiError::client("InvalidNextToken", format!("The token '{token}' is invalid"));
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| invalid())?;
    let text = String::from_utf8(bytes).map_err(|_| invalid())?;
    let key = text.strip_prefix("1\n").and_then(|rest| rest.strip_prefix(action)?.strip_prefix('\n'));
    key.map(str::to_owned).ok_or_else(invalid)
}
