//! ClientToken: the same token with the same parameters gives the same answer, however often it is sent and
//! across restarts; with other parameters it is refused.
//!
//! The answer is in the store only; memory holds a hash, so that tokens stay small.

use hive_api::{ApiError, Params};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::call::Call;
use super::id::Kind;
use super::table::{Listed, Resource};
use super::tags::Tags;
use super::text::hex;

/// After this a token is forgotten and may be used again.
pub const LIFETIME_HOURS: i64 = 24;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClientToken {
    pub id: String,
    pub parameters: String,
    pub created: Timestamp,
    #[serde(default, skip_deserializing)]
    pub answer: String,
}

impl Listed for ClientToken {
    fn key(&self) -> &str {
        &self.id
    }
}

impl Resource for ClientToken {
    const KIND: Kind = Kind {
        name: "client-token",
        prefix: "token",
        not_found: "InvalidParameterValue",
        malformed: Some("InvalidParameterValue"),
        noun: "client token",
    };
    const OF_NO_NODE: bool = true;
}

impl ClientToken {
    pub fn new(action: &str, token: &str, parameters: String, created: Timestamp) -> Self {
        let id = hex(&Sha256::digest(format!("{action}\n{token}"))[..16]);
        Self { id, parameters, created, answer: String::new() }
    }

    /// Tags are common parameters, yet part of what was asked for.
    pub fn digest(params: &Params, tags: &[(String, Tags)]) -> String {
        hex(&Sha256::digest(format!("{}{tags:?}", params.canonical()))[..16])
    }

    /// The same token in an earlier request that is still remembered.
    pub fn used<'a>(&self, call: &'a Call<'_>) -> Option<&'a ClientToken> {
        call.account.client_tokens.get(&self.id).filter(|known| !known.is_expired(call.now))
    }

    pub fn mismatch() -> ApiError {
        ApiError::client(
            "IdempotentParameterMismatch",
            "The client token was used before with other parameters",
        )
    }

    pub fn with_answer(&self, answer: &str) -> Self {
        Self { answer: answer.to_owned(), ..self.clone() }
    }

    pub fn without_answer(&self) -> Self {
        self.with_answer("")
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        now.as_second() - self.created.as_second() > LIFETIME_HOURS * 3600
    }

    /// The answer inside a stored token.
    pub fn answer_in(value: &str) -> Option<String> {
        #[derive(Deserialize)]
        struct Answer {
            answer: String,
        }
        serde_json::from_str::<Answer>(value).ok().map(|token| token.answer)
    }
}
