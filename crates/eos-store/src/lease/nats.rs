//! Leases in a NATS bucket, for runs on several machines.
//!
//! A lease is one key; every change of it names the revision it replaces. A renewal is a new revision of the same
//! value. A holder that slept past its time finds its revision gone and cannot write. The value stays when a lease
//! is released, so its fencing number and the record of broken leases do too.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::error::LeaseError;
use super::held::{Lease, Rhythm, now};
use super::leases::{Leases, Reach, Terms};
use super::nats_held::HeldKey;
use super::owner::{Broken, LeaseStatus, Owner};
use super::value::Value;
use crate::error::StoreError;
use crate::key_name;
use crate::nats::{Bucket, Failure, Nats};

pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Between two looks at a lease that somebody else holds.
const LOOK: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub struct NatsLeases {
    bucket: Bucket,
    /// Leases of others by key: whoever is silent is watched from the first look on, all of them at the same time.
    seen: Arc<Mutex<BTreeMap<String, Seen>>>,
}

/// A key as the server has it now.
pub(super) struct Found {
    pub(super) revision: u64,
    pub(super) value: Value,
    written: i128,
}

/// The revision of a lease, and since when nothing about it has changed for us.
struct Seen {
    revision: u64,
    at: Instant,
}

impl NatsLeases {
    /// Makes the bucket if it is not there, with that many copies in a cluster.
    pub fn open(nats: &Nats, bucket: &str, replicas: usize) -> Result<NatsLeases, StoreError> {
        let (nats, name) = (nats.clone(), bucket.to_owned());
        let opening = {
            let nats = nats.clone();
            async move { Bucket::open(&nats, &name, replicas).await }
        };
        Ok(NatsLeases { bucket: nats.run(opening)?, seen: Arc::default() })
    }

    fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Result<Result<T, Failure>, LeaseError> {
        self.bucket.nats.run(async move { Ok(work.await) }).map_err(|e| LeaseError::Unreachable {
            operation,
            place: self.bucket.place(),
            reason: e.to_string(),
        })
    }

    pub(super) fn find(
        &self,
        operation: &'static str,
        key: &str,
        within: Duration,
    ) -> Result<Option<Found>, LeaseError> {
        let name = name_of(key)?;
        let bucket = self.bucket.clone();
        let stored = self
            .run(operation, async move { bucket.last(&name, within).await })?
            .map_err(|failure| self.failed(operation, &failure))?;
        stored
            .map(|stored| {
                let value = Value::read(&stored.payload, &format!("{}, {key}", self.bucket.place()))?;
                Ok(Found { revision: stored.sequence, value, written: stored.written })
            })
            .transpose()
    }

    /// For how long nothing about a lease has changed, as far as this process has looked.
    fn unchanged_for(&self, found: &Found) -> Duration {
        let now = Instant::now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.get(&found.value.key).filter(|seen| seen.revision == found.revision) {
            Some(seen) => now - seen.at,
            None => {
                seen.insert(found.value.key.clone(), Seen { revision: found.revision, at: now });
                Duration::ZERO
            }
        }
    }

    pub(super) fn write(
        &self,
        operation: &'static str,
        expected: u64,
        value: &Value,
        within: Duration,
    ) -> Result<Result<u64, Failure>, LeaseError> {
        let (bucket, name, payload) = (self.bucket.clone(), name_of(&value.key)?, value.write());
        self.run(operation, async move {
            bucket.publish(&name, expected, payload.into(), within).await.map(|published| published.seq)
        })
    }

    pub(super) fn failed(&self, operation: &'static str, failure: &Failure) -> LeaseError {
        let (place, reason) = (self.bucket.place(), failure.reason());
        match failure {
            Failure::Silent(_) => LeaseError::Unreachable { operation, place, reason },
            Failure::Conflict | Failure::Refused { .. } => LeaseError::Io { operation, place, reason },
        }
    }

    fn stream_info(&self, operation: &'static str) -> Result<(u64, Timestamp), LeaseError> {
        let bucket = self.bucket.clone();
        let info = self
            .run(operation, async move { bucket.info().await })?
            .map_err(|failure| self.failed(operation, &failure))?;
        Ok((info.state.last_seq, info.ts))
    }

    /// `server_now`: judged by the server's clock alone, on both ends.
    fn status(&self, found: &Found, server_now: Timestamp) -> Option<LeaseStatus> {
        let holder = found.value.holder.as_ref()?;
        let ttl = Duration::from_millis(holder.ttl_ms);
        let silent = server_now.as_nanosecond() - found.written;
        let age = Timestamp::now().duration_since(holder.since);
        Some(LeaseStatus {
            key: found.value.key.clone(),
            owner: holder.owner.clone(),
            fence: found.value.fence,
            since: holder.since,
            age: age.try_into().unwrap_or_default(),
            ttl,
            stale: silent >= i128::try_from(ttl.as_nanos()).unwrap_or(i128::MAX),
        })
    }

    fn all(&self, operation: &'static str) -> Result<Vec<Found>, LeaseError> {
        let bucket = self.bucket.clone();
        let names = self
            .run(operation, async move { bucket.keys().await })?
            .map_err(|failure| self.failed(operation, &failure))?;
        let mut all = Vec::new();
        for name in names {
            if let Some(key) = key_name::decode(&name) {
                all.extend(self.find(operation, &key, ANSWER_WITHIN)?);
            }
        }
        Ok(all)
    }

    /// Writes the lease to `owner`'s name. None: somebody was quicker.
    fn take(
        &self,
        before: Option<&Found>,
        key: &str,
        owner: &Owner,
        ttl: Duration,
    ) -> Result<Option<HeldKey>, LeaseError> {
        const OPERATION: &str = "take the lease";
        let started = now();
        let fresh = Value::new(key);
        let (revision, value) = before.map_or((0, &fresh), |found| (found.revision, &found.value));
        // Revisions rise over the whole bucket, so this is above every number given before, and at most the
        // revision this write gets: the next lease's number is higher again.
        let last = if before.is_some() { revision } else { self.stream_info(OPERATION)?.0 };
        let value = value.held_by(owner, ttl, value.fence.max(last) + 1);
        let held = |revision| HeldKey { leases: self.clone(), value: value.clone(), revision, started };
        match self.write(OPERATION, revision, &value, ANSWER_WITHIN)? {
            Ok(revision) => Ok(Some(held(revision))),
            Err(Failure::Conflict) => Ok(None),
            Err(Failure::Refused { code, reason }) => {
                Err(self.failed(OPERATION, &Failure::Refused { code, reason }))
            }
            Err(silent @ Failure::Silent(_)) => {
                // It may have been written. If the server still answers, the value says so.
                let found = self.find(OPERATION, key, ANSWER_WITHIN)?;
                match found.filter(|found| found.value.holder == value.holder) {
                    Some(found) => Ok(Some(held(found.revision))),
                    None => Err(self.failed(OPERATION, &silent)),
                }
            }
        }
    }
}

impl Leases for NatsLeases {
    fn acquire(&self, key: &str, owner: &Owner, terms: Terms<'_>) -> Result<Lease, LeaseError> {
        const OPERATION: &str = "take the lease";
        let started = Instant::now();
        loop {
            let found = self.find(OPERATION, key, ANSWER_WITHIN)?;
            let held = found.as_ref().and_then(|found| Some((found, found.value.holder.as_ref()?)));
            let outlasted = held.is_some_and(|(found, holder)| {
                self.unchanged_for(found) >= Duration::from_millis(holder.ttl_ms)
            });
            if held.is_none() || outlasted {
                let Some(held) = self.take(found.as_ref(), key, owner, terms.ttl)? else { continue };
                let rhythm =
                    Rhythm { every: terms.ttl / 3, expires_after: Some(terms.ttl), started: held.started };
                return Lease::keep(key, held.value.fence, rhythm, Box::new(held));
            }
            let Some((found, _)) = held else { continue };
            let (_, server_now) = self.stream_info(OPERATION)?;
            let Some(status) = self.status(found, server_now).map(Box::new) else { continue };
            let waited = started.elapsed();
            if waited >= terms.wait {
                return Err(LeaseError::Held { status, waited });
            }
            if (terms.on_wait)(&status).is_break() {
                return Err(LeaseError::GaveUp { status });
            }
            std::thread::sleep(LOOK.min(terms.wait - waited));
        }
    }

    fn list(&self) -> Result<Vec<LeaseStatus>, LeaseError> {
        const OPERATION: &str = "list the leases";
        let all = self.all(OPERATION)?;
        for found in &all {
            self.unchanged_for(found);
        }
        let (_, server_now) = self.stream_info(OPERATION)?;
        let mut list: Vec<_> = all.iter().filter_map(|found| self.status(found, server_now)).collect();
        list.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(list)
    }

    fn break_lease(&self, key: &str, because: &str, by: &str) -> Result<Broken, LeaseError> {
        const OPERATION: &str = "break the lease";
        loop {
            let not_held = || LeaseError::NotHeld { key: key.to_owned() };
            let found = self.find(OPERATION, key, ANSWER_WITHIN)?.ok_or_else(not_held)?;
            let (value, record) = found.value.broken_by(because, by).ok_or_else(not_held)?;
            match self.write(OPERATION, found.revision, &value, ANSWER_WITHIN)? {
                Ok(_) => return Ok(record),
                // A renewal came in between; the holder stays the one that was meant.
                Err(Failure::Conflict) => {}
                Err(failure) => return Err(self.failed(OPERATION, &failure)),
            }
        }
    }

    fn broken(&self) -> Result<Vec<Broken>, LeaseError> {
        let all = self.all("list the broken leases")?;
        let mut all: Vec<_> = all.into_iter().flat_map(|found| found.value.broken).collect();
        all.sort_by_key(|record| std::cmp::Reverse(record.at));
        Ok(all)
    }

    fn reach(&self) -> Reach {
        Reach::Network
    }
}

fn name_of(key: &str) -> Result<String, LeaseError> {
    key_name::encode(key).map_err(|reason| LeaseError::BadKey { key: key.to_owned(), reason })
}
