//! What JetStream answers, and what it means when it does not.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A key's last message is not the one that was named; the second where several writes are under way.
const WRONG_LAST_SEQUENCE: [u64; 2] = [10_071, 10_164];

#[derive(Debug, Clone)]
pub enum Failure {
    /// The server did not take it, because somebody else wrote in between.
    Conflict,
    /// The server said no.
    Refused { code: u64, reason: String },
    /// Nothing was heard: whether it was done is not known.
    Silent(String),
}

impl Failure {
    pub fn reason(&self) -> String {
        match self {
            Failure::Conflict => "somebody else wrote in between".to_owned(),
            Failure::Refused { reason, .. } | Failure::Silent(reason) => reason.clone(),
        }
    }
}

/// What is needed of the server's answer on a stream.
#[derive(Debug, Clone, Deserialize)]
pub struct StreamInfo {
    pub state: StreamState,
    pub created: String,
    /// The server's clock when it answered.
    pub ts: jiff::Timestamp,
    pub config: StreamConfig,
}

#[derive(Debug, Clone, Deserialize)]
pub struct StreamState {
    pub last_seq: u64,
    #[serde(default)]
    pub subjects: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct StreamConfig {
    #[serde(default)]
    pub allow_atomic: bool,
    #[serde(default)]
    pub allow_msg_ttl: bool,
    #[serde(default)]
    pub metadata: HashMap<String, String>,
}

#[derive(Deserialize)]
struct Answer {
    error: Option<AnswerError>,
}

#[derive(Deserialize)]
struct AnswerError {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Published {
    pub seq: u64,
}

pub fn read_answer<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Failure> {
    let garbled = |e: serde_json::Error| Failure::Silent(format!("an answer that cannot be read: {e}"));
    match serde_json::from_slice::<Answer>(payload).map_err(garbled)?.error {
        Some(error) if WRONG_LAST_SEQUENCE.contains(&error.err_code) => Err(Failure::Conflict),
        Some(error) => Err(Failure::Refused { code: error.err_code, reason: error.description }),
        None => serde_json::from_slice(payload).map_err(garbled),
    }
}
