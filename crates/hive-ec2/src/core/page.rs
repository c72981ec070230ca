//! Pagination: a token names the last key that was given out, so a page never repeats or skips a survivor,
//! whatever is created or deleted in between.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hive_api::{ApiError, ApiResult};

pub struct Page<T> {
    pub items: Vec<T>,
    pub next_token: Option<String>,
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
