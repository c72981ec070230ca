//! Which message of the stream is a key's last, as far as is known here: a version as callers count it, and the number
//! the server counts by. Being wrong costs a refused write and a look at the server, never a wrong write.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::batch::Version;

/// Version 0 with a number other than 0: deleted, and the message that says so is still there. Deleted keys are not
/// remembered for long: ids are seldom used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Last {
    pub version: Version,
    pub sequence: u64,
}

#[derive(Default)]
pub struct Index {
    known: Mutex<HashMap<String, Last>>,
}

impl Index {
    pub fn get(&self, key: &str) -> Option<Last> {
        self.lock().get(key).copied()
    }

    /// From somebody who may be late: only what is newer counts.
    pub fn learn(&self, key: &str, version: Version, sequence: u64) {
        let mut known = self.lock();
        if known.get(key).is_some_and(|last| last.sequence >= sequence) {
            return;
        }
        if version == 0 {
            known.remove(key);
        } else {
            known.insert(key.to_owned(), Last { version, sequence });
        }
    }

    /// From the server, asked just now.
    pub fn set(&self, key: &str, last: Last) {
        self.lock().insert(key.to_owned(), last);
    }

    pub fn forget(&self, key: &str) {
        self.lock().remove(key);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Last>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
