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
    #[error("the store's writer has ended")]
    Closed,
}
