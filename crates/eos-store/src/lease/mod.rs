//! Leases: who may run now.
//!
//! A lease orders runs; it does not protect data by itself. Each one carries a fencing number that only rises,
//! so that whatever a former holder still sends can be told from what the present one sends.
//!
//! Expiry is never read off a calendar: an observer calls a holder gone when it has itself seen no renewal for
//! the holder's time to live, by its own monotonic clock. A holder gives up at the same age of its last
//! successful renewal, counted from before that renewal was sent, so it stops before anyone may follow it.

mod embedded;
mod error;
mod held;
mod lease_file;
mod leases;
mod nats;
mod nats_held;
mod owner;
mod value;

pub use embedded::EmbeddedLeases;
pub use error::LeaseError;
pub use held::{Lease, Lost};
pub use leases::{Leases, Reach, Terms};
pub use nats::NatsLeases;
pub use owner::{Broken, LeaseStatus, Owner};
