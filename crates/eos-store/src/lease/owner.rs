//! Who holds a lease, as others see it.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub user: String,
    pub host: String,
    pub command: String,
    pub pid: u32,
    /// The run it is for.
    pub run: String,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}@{} (pid {}, `{}`)", self.user, self.host, self.pid, self.command)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeaseStatus {
    pub key: String,
    pub owner: Owner,
    pub fence: u64,
    /// By the holder's own clock: for people, never for a decision.
    pub since: Timestamp,
    pub age: Duration,
    pub ttl: Duration,
    /// The holder shows no sign of life: its process is gone (embedded), or the server has had no renewal for
    /// the time to live by the server's own clock. Taking the lease over is still decided by watching it.
    pub stale: bool,
}

/// A lease taken from its holder by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    pub key: String,
    /// Who held it.
    pub owner: Owner,
    pub fence: u64,
    pub by: String,
    pub because: String,
    pub at: Timestamp,
}
