//! What can go wrong with a store. `Conflict` is the only one a caller may answer by trying again.

use crate::batch::Version;

#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("{key} is at version {actual}, not {expected}: someone else wrote it")]
    Conflict { key: String, expected: Version, actual: Version },
    #[error("cannot {operation} the store at {place}: {reason}")]
    Io { operation: &'static str, place: String, reason: String },
    #[error("the store at {place} has format {found}; this program reads format {known}: use a newer one")]
    NewerFormat { place: String, found: u64, known: u64 },
    #[error("cannot {operation}: the store at {place} cannot be reached: {reason}")]
    Unreachable { operation: &'static str, place: String, reason: String },
    #[error(
        "the store at {place} fell silent during a write ({reason}): whether it was kept will show later"
    )]
    Unknown { place: String, reason: String },
    #[error("{key:?} cannot name a record: {reason}")]
    BadKey { key: String, reason: &'static str },
    #[error("the store at {place} cannot take this batch: {reason}")]
    TooLarge { place: String, reason: String },
    #[error("the store at {place} is damaged: {reason}")]
    Damaged { place: String, reason: String },
    #[error("the store's writer has ended")]
    Closed,
}
