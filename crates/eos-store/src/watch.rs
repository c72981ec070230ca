//! Following what others write.

use tokio::sync::mpsc::UnboundedReceiver;

use crate::batch::Version;
use crate::records::Record;

/// One key as a change left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub key: String,
    /// 0: it is gone.
    pub version: Version,
    pub value: Option<Vec<u8>>,
    /// Written through the same store as this watch.
    pub own: bool,
    pub(crate) sequence: u64,
}

/// Changes that belong together: with all of them the records are as they were at one moment, with some of them
/// maybe not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// With these applied, everything up to this number is.
    pub sequence: u64,
    pub changes: Vec<Changed>,
}

/// The records at one moment, and whatever happened since. Take changes as they come: they are kept in memory until
/// then.
pub struct Watch {
    pub start: Vec<Record>,
    /// The moment of `start`.
    pub sequence: u64,
    pub(crate) changes: UnboundedReceiver<Changes>,
}

impl Watch {
    /// None: the store was closed.
    pub async fn next(&mut self) -> Option<Changes> {
        loop {
            let changes = self.changes.recv().await?;
            if let Some(fresh) = self.fresh(changes) {
                return Some(fresh);
            }
        }
    }

    /// What is there by now, without waiting.
    pub fn try_next(&mut self) -> Option<Changes> {
        loop {
            let changes = self.changes.try_recv().ok()?;
            if let Some(fresh) = self.fresh(changes) {
                return Some(fresh);
            }
        }
    }

    /// The watch began before `start` was read: what that has already is left out.
    fn fresh(&self, mut changes: Changes) -> Option<Changes> {
        if changes.sequence <= self.sequence {
            return None;
        }
        changes.changes.retain(|change| change.sequence > self.sequence);
        Some(changes)
    }
}
