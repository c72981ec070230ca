//! Why a lease cannot be had.

use std::time::Duration;

use super::owner::LeaseStatus;

#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    #[error("{} is held by {} since {}; waited {waited:.0?}", .status.key, .status.owner, .status.since)]
    Held { status: Box<LeaseStatus>, waited: Duration },
    #[error("gave up waiting for {}, held by {} since {}", .status.key, .status.owner, .status.since)]
    GaveUp { status: Box<LeaseStatus> },
    #[error("{key} is held by nobody")]
    NotHeld { key: String },
    #[error("cannot {operation} at {place}: {reason}")]
    Io { operation: &'static str, place: String, reason: String },
    #[error("cannot {operation}: NATS at {place} cannot be reached: {reason}")]
    Unreachable { operation: &'static str, place: String, reason: String },
    #[error("the lease at {place} has format {found}; this program reads format {known}: use a newer one")]
    NewerFormat { place: String, found: u64, known: u64 },
    #[error("the lease at {place} cannot be read: {reason}")]
    Damaged { place: String, reason: String },
    #[error("{key:?} cannot name a lease or a record: {reason}")]
    BadKey { key: String, reason: &'static str },
}
