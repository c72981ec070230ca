//! What eos and Hive keep: durable records, and leases that say who may run now. Two small traits, [`Records`] and
//! [`lease::Leases`], each with one contract that all of its implementations are tested against.
//!
//! | | records | leases |
//! |---|---|---|
//! | one process | [`EmbeddedRecords`], a redb file | |
//! | one machine | [`FolderRecords`], plain files | [`lease::EmbeddedLeases`], locked files |
//! | several machines | [`NatsRecords`], a JetStream stream | [`lease::NatsLeases`], a NATS bucket |
//!
//! Invariants every implementation of [`Records`] keeps:
//! - a batch is applied whole or not at all, and its answer comes only after it is durable;
//! - each write names the version it replaces, so a stale writer is refused, never merged;
//! - batches submitted by one caller are applied in the order of submission.

mod batch;
mod embedded;
mod error;
mod folder;
mod key_name;
pub mod lease;
mod nats;
mod records;
mod watch;

pub use batch::{Batch, Change, Version};
pub use embedded::{Durability, EmbeddedRecords};
pub use error::StoreError;
pub use folder::FolderRecords;
pub use nats::{Credentials, Nats, NatsAccess, NatsRecords, NatsSettings};
pub use records::{LargestBatch, Pending, Record, Records};
pub use watch::{Changed, Changes, Watch};

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

fn random_number() -> u64 {
    u64::from_le_bytes(random())
}

/// 128 random bits as text.
fn random_id() -> String {
    random::<16>().iter().map(|byte| format!("{byte:02x}")).collect()
}
