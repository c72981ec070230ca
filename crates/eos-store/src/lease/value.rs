//! The stored form of a lease: the same in a file and in NATS.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::LeaseError;
use super::owner::{Broken, Owner};

const FORMAT: u64 = 1;
/// How many broken leases are remembered for each key.
const REMEMBERED: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    format: u64,
    pub key: String,
    /// The number of the latest lease, held or not: the next one is higher.
    pub fence: u64,
    pub holder: Option<Holder>,
    /// Latest first.
    #[serde(default)]
    pub broken: Vec<Broken>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Tells this lease from every other of the same owner.
    id: String,
    #[serde(flatten)]
    pub owner: Owner,
    pub since: Timestamp,
    pub ttl_ms: u64,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u64,
}

impl Value {
    pub fn new(key: &str) -> Value {
        Value { format: FORMAT, key: key.to_owned(), fence: 0, holder: None, broken: Vec::new() }
    }

    /// The format is looked at first: what a newer program wrote is refused, not guessed at.
    pub fn read(bytes: &[u8], place: &str) -> Result<Value, LeaseError> {
        let damaged =
            |e: serde_json::Error| LeaseError::Damaged { place: place.to_owned(), reason: e.to_string() };
        let found = serde_json::from_slice::<FormatOnly>(bytes).map_err(damaged)?.format;
        if found > FORMAT {
            return Err(LeaseError::NewerFormat { place: place.to_owned(), found, known: FORMAT });
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }

    pub fn write(&self) -> Vec<u8> {
        // Strings and numbers: nothing here can fail to be JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn held_by(&self, owner: &Owner, ttl: std::time::Duration, fence: u64) -> Value {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let holder = Holder { id: crate::random_id(), owner: owner.clone(), since: Timestamp::now(), ttl_ms };
        Value { fence, holder: Some(holder), ..self.clone() }
    }

    pub fn free(&self) -> Value {
        Value { holder: None, ..self.clone() }
    }

    pub fn broken_by(&self, because: &str, by: &str) -> Option<(Value, Broken)> {
        let record = Broken {
            key: self.key.clone(),
            owner: self.holder.as_ref()?.owner.clone(),
            fence: self.fence,
            by: by.to_owned(),
            because: because.to_owned(),
            at: Timestamp::now(),
        };
        let mut next = self.free();
        next.broken.insert(0, record.clone());
        next.broken.truncate(REMEMBERED);
        Some((next, record))
    }
}
