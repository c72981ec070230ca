//! The trait: a versioned key-value map with atomic, durable batches.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::batch::{Batch, Version};
use crate::embedded::Lead;
use crate::error::StoreError;
use crate::watch::Watch;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub key: String,
    pub version: Version,
    pub value: Vec<u8>,
}

/// What a store takes in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargestBatch {
    pub changes: usize,
    /// Of each value.
    pub bytes: usize,
}

pub trait Records: Send + Sync {
    /// Every record, in the order of keys: read once at start to build an index.
    fn all(&self) -> Result<Vec<Record>, StoreError>;

    /// One durable record.
    fn get(&self, key: &str) -> Result<Option<Record>, StoreError>;

    /// Queues `batch` behind those submitted before; the answer says that it is durable.
    fn submit(&self, batch: Batch) -> Pending;

    /// The most that one batch may have; None for any number.
    fn largest_batch(&self) -> Option<LargestBatch> {
        None
    }

    /// Every record, and then every change by whomever; None for a store that cannot be followed.
    fn watch(&self) -> Result<Option<Watch>, StoreError> {
        Ok(None)
    }

    /// The number of the last change, of whomever. Changes of a [`Watch`] carry theirs.
    fn last_sequence(&self) -> Pending<u64> {
        Pending::ready(Ok(0))
    }

    /// Answers when every change that was durable at the time of the call has been put into every [`Watch`]: whoever
    /// then takes all that is there reads nothing older than the last acknowledged write.
    fn caught_up(&self, within: Duration) -> Pending<u64> {
        let _ = within;
        Pending::ready(Ok(0))
    }
}

/// An answer on its way: await it, or block on it with [`Pending::wait`].
pub struct Pending<T = ()> {
    answer: oneshot::Receiver<Result<T, StoreError>>,
    /// Whoever waits for the answer may be the one to bring it about.
    lead: Option<Lead>,
}

impl<T> Pending<T> {
    pub(crate) fn new(answer: oneshot::Receiver<Result<T, StoreError>>) -> Pending<T> {
        Pending { answer, lead: None }
    }

    pub(crate) fn with_lead(answer: oneshot::Receiver<Result<T, StoreError>>, lead: Lead) -> Pending<T> {
        Pending { answer, lead: Some(lead) }
    }

    pub(crate) fn ready(answer: Result<T, StoreError>) -> Pending<T> {
        let (sender, pending) = oneshot::channel();
        // The receiver is there: it is returned.
        let _ = sender.send(answer);
        Pending::new(pending)
    }

    /// Blocks; must not be called from async code.
    pub fn wait(self) -> Result<T, StoreError> {
        if let Some(lead) = self.lead {
            lead.take();
        }
        self.answer.blocking_recv().unwrap_or(Err(StoreError::Closed))
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(lead) = self.lead.take() {
            lead.take();
        }
        Pin::new(&mut self.answer).poll(context).map(|answer| answer.unwrap_or(Err(StoreError::Closed)))
    }
}
