//! Leases as files, for runs on one machine.
//!
//! `<key>.lease` says who holds it, and the holder keeps it locked (flock). The system ends the lock with the
//! process, so a crashed holder's lease can be taken at once. The file is never written in place: whoever
//! changes it writes a new one beside it, locks that where it means to hold it, and renames. A holder whose file
//! is no longer the one at the path has lost the lease.
//!
//! All of this happens under `.guard`, a lock that is held for moments only; so looking whether a lease is
//! locked never gets in the way of somebody who takes it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::LeaseError;
use super::held::{Keep, Lease, Lost, Renewal, Rhythm, now};
use super::lease_file::{Found, io, replace};
use super::leases::{Leases, Reach, Terms};
use super::owner::{Broken, LeaseStatus, Owner};
use super::value::Value;
use crate::key_name;

const SUFFIX: &str = ".lease";
/// Between two looks at a lease that somebody else holds.
const LOOK: Duration = Duration::from_millis(100);
/// The guard is held for some milliseconds; longer means that its holder is stopped.
const GUARD_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct EmbeddedLeases {
    folder: PathBuf,
}

impl EmbeddedLeases {
    /// The folder is made when the first lease is taken.
    pub fn new(folder: &Path) -> EmbeddedLeases {
        EmbeddedLeases { folder: folder.to_owned() }
    }

    fn path(&self, key: &str) -> Result<PathBuf, LeaseError> {
        let name =
            key_name::encode(key).map_err(|reason| LeaseError::BadKey { key: key.to_owned(), reason })?;
        Ok(self.folder.join(name + SUFFIX))
    }

    /// None: there is no folder, so nobody holds anything.
    fn guard(&self, make: bool) -> Result<Option<File>, LeaseError> {
        let path = self.folder.join(".guard");
        if make {
            std::fs::create_dir_all(&self.folder).map_err(|e| io("make the folder of leases", &path, e))?;
        }
        let opened = match OpenOptions::new().read(true).write(make).create(make).truncate(false).open(&path)
        {
            Err(e) if e.kind() == ErrorKind::NotFound && !make => return Ok(None),
            opened => opened.map_err(|e| io("open the guard of leases", &path, e))?,
        };
        let started = Instant::now();
        loop {
            match opened.try_lock() {
                Ok(()) => return Ok(Some(opened)),
                Err(TryLockError::WouldBlock) if started.elapsed() < GUARD_PATIENCE => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    let stopped = std::io::Error::other("another process holds it and does not go on");
                    return Err(io("lock the guard of leases", &path, stopped));
                }
                Err(TryLockError::Error(e)) => return Err(io("lock the guard of leases", &path, e)),
            }
        }
    }

    /// Takes the lease, or says who has it.
    fn try_acquire(&self, key: &str, owner: &Owner, ttl: Duration) -> Result<Attempt, LeaseError> {
        let path = self.path(key)?;
        let _guard = self.guard(true)?;
        let found = Found::read(&path)?;
        if let Some(status) = found.as_ref().and_then(Found::status)
            && !status.stale
        {
            return Ok(Attempt::Held(Box::new(status)));
        }
        let before = found.map_or_else(|| Value::new(key), |found| found.value);
        let value = before.held_by(owner, ttl, before.fence + 1);
        let file = replace(&path, &value, true)?;
        Ok(Attempt::Taken(HeldFile { leases: self.clone(), path, file, fence: value.fence }))
    }
}

enum Attempt {
    Taken(HeldFile),
    Held(Box<LeaseStatus>),
}

impl Leases for EmbeddedLeases {
    fn acquire(&self, key: &str, owner: &Owner, terms: Terms<'_>) -> Result<Lease, LeaseError> {
        let started = Instant::now();
        loop {
            match self.try_acquire(key, owner, terms.ttl)? {
                Attempt::Taken(held) => {
                    let every = (terms.ttl / 3).min(Duration::from_secs(1));
                    let rhythm = Rhythm { every, expires_after: None, started: now() };
                    return Lease::keep(key, held.fence, rhythm, Box::new(held));
                }
                Attempt::Held(status) => {
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
        }
    }

    fn list(&self) -> Result<Vec<LeaseStatus>, LeaseError> {
        let mut list: Vec<_> = self.every_file()?.iter().filter_map(Found::status).collect();
        list.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(list)
    }

    fn break_lease(&self, key: &str, because: &str, by: &str) -> Result<Broken, LeaseError> {
        let path = self.path(key)?;
        let not_held = || LeaseError::NotHeld { key: key.to_owned() };
        let _guard = self.guard(false)?.ok_or_else(not_held)?;
        let found = Found::read(&path)?.ok_or_else(not_held)?;
        let (value, record) = found.value.broken_by(because, by).ok_or_else(not_held)?;
        replace(&path, &value, false)?;
        Ok(record)
    }

    fn broken(&self) -> Result<Vec<Broken>, LeaseError> {
        let mut all: Vec<_> = self.every_file()?.into_iter().flat_map(|found| found.value.broken).collect();
        all.sort_by_key(|record| std::cmp::Reverse(record.at));
        Ok(all)
    }

    fn reach(&self) -> Reach {
        Reach::Machine
    }
}

impl EmbeddedLeases {
    fn every_file(&self) -> Result<Vec<Found>, LeaseError> {
        let Some(_guard) = self.guard(false)? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(|e| io("list leases", &self.folder, e))? {
            let path = entry.map_err(|e| io("list leases", &self.folder, e))?.path();
            if path.extension().is_some_and(|extension| extension == "lease") {
                all.extend(Found::read(&path)?);
            }
        }
        Ok(all)
    }
}

struct HeldFile {
    leases: EmbeddedLeases,
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    fence: u64,
}

impl HeldFile {
    fn is_ours(&self) -> Result<bool, std::io::Error> {
        let ours = self.file.metadata()?;
        match std::fs::metadata(&self.path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn why_lost(&self) -> Lost {
        let Ok(Some(found)) = Found::read(&self.path) else {
            return Lost::Gone { reason: format!("{} was removed", self.path.display()) };
        };
        if let Some(record) = found.value.broken.iter().find(|record| record.fence == self.fence) {
            return Lost::Broken(Box::new(record.clone()));
        }
        match found.value.holder {
            Some(holder) => Lost::Taken { by: Box::new(holder.owner) },
            None => Lost::Gone { reason: format!("{} was replaced", self.path.display()) },
        }
    }
}

impl Keep for HeldFile {
    fn renew(&mut self, _within: Duration) -> Renewal {
        match self.is_ours() {
            Ok(true) => Renewal::Renewed,
            Ok(false) => {
                // Told apart for people only: without the guard it is lost all the same.
                let _guard = self.leases.guard(false);
                Renewal::Lost(self.why_lost())
            }
            Err(e) => Renewal::Failed(e.to_string()),
        }
    }

    fn release(&mut self) -> Result<(), LeaseError> {
        let Some(_guard) = self.leases.guard(false)? else { return Ok(()) };
        if !self.is_ours().map_err(|e| io("look at the lease", &self.path, e))? {
            return Ok(());
        }
        if let Some(found) = Found::read(&self.path)? {
            replace(&self.path, &found.value.free(), false)?;
        }
        Ok(())
    }
}
