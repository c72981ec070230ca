//! NATS: one connection for leases and records, and records on a JetStream stream.
//!
//! The client is async and runs on threads of its own; everything here can be called from a plain thread.

mod answer;
mod bucket;
mod connection;
mod entry;
mod feed;
mod follower;
mod groups;
mod index;
mod look_up;
mod merge;
mod message;
mod records;
mod replay;
mod writer;

pub use connection::{Credentials, Nats, NatsAccess};
pub use records::{NatsRecords, NatsSettings};

pub(crate) use answer::Failure;
pub(crate) use bucket::Bucket;
