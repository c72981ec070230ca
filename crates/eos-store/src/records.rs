//! The trait: a versioned key-value map with atomic, durable batches.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::batch::{Batch, Version};
use crate::error::StoreError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub key: String,
    pub version: Version,
    pub value: Vec<u8>,
}

pub trait Records: Send + Sync {
    /// Every record, in the order of keys: read once at start to build an index.
    fn all(&self) -> Result<Vec<Record>, StoreError>;

    /// One durable record.
    fn get(&self, key: &str) -> Result<Option<Record>, StoreError>;

    /// Queues `batch` behind those submitted before and returns at once; the answer says that it is durable.
    fn submit(&self, batch: Batch) -> Pending;
}

/// A batch on its way to the disk: await it, or block on it with [`Pending::wait`].
pub struct Pending(pub(crate) oneshot::Receiver<Result<(), StoreError>>);

impl Pending {
    /// Blocks; must not be called from async code.
    pub fn wait(self) -> Result<(), StoreError> {
        self.0.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }
}

impl Future for Pending {
    type Output = Result<(), StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|answer| answer.unwrap_or(Err(StoreError::Closed)))
    }
}
