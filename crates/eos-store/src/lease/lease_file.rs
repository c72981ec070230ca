//! The file of a lease. Everything here happens under the guard of its folder.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::error::LeaseError;
use super::owner::LeaseStatus;
use super::value::Value;

/// A lease's file as it is now; read under the guard.
pub(super) struct Found {
    pub value: Value,
    locked: bool,
}

impl Found {
    pub fn read(path: &Path) -> Result<Option<Found>, LeaseError> {
        let mut file = match File::open(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|e| io("open the lease", path, e))?,
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| io("read the lease", path, e))?;
        let value = Value::read(&bytes, &path.display().to_string())?;
        let locked = match file.try_lock() {
            // Ours for a moment; let go when the file is closed, still under the guard.
            Ok(()) => false,
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(e)) => return Err(io("look at the lock of the lease", path, e)),
        };
        Ok(Some(Found { value, locked }))
    }

    pub fn status(&self) -> Option<LeaseStatus> {
        let holder = self.value.holder.as_ref()?;
        let age = Timestamp::now().duration_since(holder.since);
        Some(LeaseStatus {
            key: self.value.key.clone(),
            owner: holder.owner.clone(),
            fence: self.value.fence,
            since: holder.since,
            age: age.try_into().unwrap_or_default(),
            ttl: Duration::from_millis(holder.ttl_ms),
            stale: !self.locked,
        })
    }
}

/// Puts a new file in place of the old one, whole or not at all; gives it back, locked if so wished.
pub(super) fn replace(path: &Path, value: &Value, locked: bool) -> Result<File, LeaseError> {
    // One name is enough: only the holder of the guard gets here.
    let fresh = path.with_file_name(".fresh");
    let mut file = File::create(&fresh).map_err(|e| io("write the lease", &fresh, e))?;
    if locked {
        file.lock().map_err(|e| io("lock the lease", &fresh, e))?;
    }
    let bytes = value.write();
    file.write_all(&bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&fresh, path))
        .map_err(|e| io("write the lease", path, e))?;
    let folder = path.parent().unwrap_or(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| io("sync the folder", folder, e))?;
    Ok(file)
}

pub(super) fn io(operation: &'static str, path: &Path, reason: std::io::Error) -> LeaseError {
    LeaseError::Io { operation, place: path.display().to_string(), reason: reason.to_string() }
}
