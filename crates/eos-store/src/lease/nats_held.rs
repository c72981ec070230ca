//! A held lease in a NATS bucket: renewed by writing the same value again.

use std::time::Duration;

use super::error::LeaseError;
use super::held::{Keep, Lost, Renewal};
use super::nats::{ANSWER_WITHIN, Found, NatsLeases};
use super::value::{Holder, Value};
use crate::nats::Failure;

/// A lease that is ours as long as nobody else wrote the key.
pub(super) struct HeldKey {
    pub leases: NatsLeases,
    pub value: Value,
    pub revision: u64,
    /// When it was asked for.
    pub started: Duration,
}

enum Write {
    Done,
    NotOurs(Lost),
    Failed(LeaseError),
}

impl HeldKey {
    /// An answer that got lost may have moved the revision: what still names us as holder is ours.
    fn write(&mut self, operation: &'static str, value: &Value, within: Duration) -> Write {
        for _ in 0..2 {
            match self.leases.write(operation, self.revision, value, within) {
                Ok(Ok(revision)) => {
                    self.revision = revision;
                    return Write::Done;
                }
                Ok(Err(Failure::Conflict)) => match self.leases.find(operation, &self.value.key, within) {
                    Ok(Some(found)) if found.value.holder == self.value.holder => {
                        self.revision = found.revision;
                    }
                    Ok(found) => return Write::NotOurs(self.why_lost(found)),
                    Err(error) => return Write::Failed(error),
                },
                Ok(Err(failure)) => return Write::Failed(self.leases.failed(operation, &failure)),
                Err(error) => return Write::Failed(error),
            }
        }
        Write::Failed(self.leases.failed(operation, &Failure::Conflict))
    }

    fn why_lost(&self, found: Option<Found>) -> Lost {
        let Some(found) = found else { return Lost::Gone { reason: "its key was deleted".to_owned() } };
        if let Some(record) = found.value.broken.iter().find(|record| record.fence == self.value.fence) {
            return Lost::Broken(Box::new(record.clone()));
        }
        match found.value.holder {
            Some(Holder { owner, .. }) => Lost::Taken { by: Box::new(owner) },
            None => Lost::Gone { reason: "somebody had it in between".to_owned() },
        }
    }
}

impl Keep for HeldKey {
    fn renew(&mut self, within: Duration) -> Renewal {
        let value = self.value.clone();
        match self.write("renew the lease", &value, within) {
            Write::Done => Renewal::Renewed,
            Write::NotOurs(lost) => Renewal::Lost(lost),
            Write::Failed(error) => Renewal::Failed(error.to_string()),
        }
    }

    fn release(&mut self) -> Result<(), LeaseError> {
        let value = self.value.free();
        match self.write("release the lease", &value, ANSWER_WITHIN) {
            Write::Done | Write::NotOurs(_) => Ok(()),
            Write::Failed(error) => Err(error),
        }
    }
}
