//! The trait that runs take their leases from.

use std::ops::ControlFlow;
use std::time::Duration;

use super::error::LeaseError;
use super::held::Lease;
use super::owner::{Broken, LeaseStatus, Owner};

/// Who is kept out by a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Other processes that see the same folder.
    Machine,
    /// Every machine that reaches the same server.
    Network,
}

/// How a lease is asked for.
pub struct Terms<'a> {
    /// How long the holder may be silent before others may take the lease. Renewed three times as often.
    pub ttl: Duration,
    /// How long to wait for a present holder. A dead holder on another machine is outlasted only by waiting
    /// longer than the time to live which that holder asked for.
    pub wait: Duration,
    /// Told of the present holder, again and again while waiting; `Break` gives up.
    pub on_wait: &'a mut dyn FnMut(&LeaseStatus) -> ControlFlow<()>,
}

/// Every call blocks; none may be made from async code.
pub trait Leases: Send + Sync {
    /// Takes `key`, and keeps it by a thread of its own until the lease is released or dropped.
    fn acquire(&self, key: &str, owner: &Owner, terms: Terms<'_>) -> Result<Lease, LeaseError>;

    /// Every lease that somebody holds, in the order of keys. Whoever is silent is watched from then on: a dead holder's
    /// leases are outlasted together, not one after the other.
    fn list(&self) -> Result<Vec<LeaseStatus>, LeaseError>;

    /// Takes the lease from its holder, who finds it lost; leaves a record of who did it, and why.
    fn break_lease(&self, key: &str, because: &str, by: &str) -> Result<Broken, LeaseError>;

    /// Leases that were broken, latest first; the last few of each key.
    fn broken(&self) -> Result<Vec<Broken>, LeaseError>;

    fn reach(&self) -> Reach;
}
