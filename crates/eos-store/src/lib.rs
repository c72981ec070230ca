//! Durable records for eos and Hive: one small trait, `Records`, and its embedded implementation.
//!
//! Invariants every implementation keeps:
//! - a batch is applied whole or not at all, and its answer comes only after it is durable;
//! - each write names the version it replaces, so a stale writer is refused, never merged;
//! - batches submitted by one caller are applied in the order of submission.

mod batch;
mod embedded;
mod error;
mod records;

pub use batch::{Batch, Change, Version};
pub use embedded::{Durability, EmbeddedRecords};
pub use error::StoreError;
pub use records::{Pending, Record, Records};
