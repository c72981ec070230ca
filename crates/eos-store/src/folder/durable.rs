//! Files that are there whole or not at all, also after a crash.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::StoreError;

/// Beside the file it becomes. One name is enough: only the holder of the lock writes.
const FRESH: &str = ".fresh";

/// Whole or not at all; on disk once the folder is synced too.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let fresh = path.with_file_name(FRESH);
    let written = File::create(&fresh).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)
    });
    written.map_err(|e| failed("write", path, &e))
}

pub fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(failed("delete from", path, &e)),
        _ => Ok(()),
    }
}

pub fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|e| failed("sync", path, &e))
}

pub fn read(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match std::fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(|e| failed("read", path, &e)),
    }
}

pub fn failed(operation: &'static str, path: &Path, reason: &std::io::Error) -> StoreError {
    StoreError::Io { operation, place: path.display().to_string(), reason: reason.to_string() }
}
