//! Why a source could not provide a tool. Collected over all sources, then told together as diagnostics.

use camino::{Utf8Path, Utf8PathBuf};

/// One source's failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("not tried: offline")]
    Offline,
    /// The source does not have it.
    #[error("{0}")]
    Absent(String),
    #[error("{url}: {reason}")]
    Network { url: String, reason: String },
    /// The bytes are not those that were promised. Never passed over in silence.
    #[error("{what} has the checksum {actual}, but {vouched_by} says {expected}")]
    Checksum { what: String, expected: String, actual: String, vouched_by: String },
    #[error("{directory} has {free} free, {needed} needed")]
    Space { directory: Utf8PathBuf, free: String, needed: String },
    #[error("`{command}` failed ({status}){log_tail}")]
    Command { command: String, status: String, log_tail: String },
    /// It arrived and does not do what it should.
    #[error("{0}")]
    Broken(String),
    #[error("cannot unpack {what}: {reason}")]
    Unpack { what: String, reason: String },
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl Failure {
    /// Whether a full disk is behind it.
    pub fn is_space(&self) -> bool {
        match self {
            Failure::Space { .. } => true,
            Failure::Command { log_tail, .. } => log_tail.contains("No space left on device"),
            Failure::Io(error) => {
                matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }
}

/// Refuses a piece of work for which the file system of `directory` has too little room.
pub(crate) fn require_space(directory: &Utf8Path, needed: u64) -> Result<(), Failure> {
    let file_system = rustix::fs::statvfs(directory.as_std_path()).map_err(std::io::Error::from)?;
    let free = file_system.f_bavail.saturating_mul(file_system.f_frsize);
    if free >= needed {
        return Ok(());
    }
    Err(Failure::Space { directory: directory.to_owned(), free: gigabytes(free), needed: gigabytes(needed) })
}

fn gigabytes(bytes: u64) -> String {
    format!("{}.{} GB", bytes / 1_000_000_000, bytes % 1_000_000_000 / 100_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_room_is_told_in_numbers() {
        let directory = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(directory.path()).unwrap();
        require_space(directory, 1).unwrap();
        let failure = require_space(directory, u64::MAX).unwrap_err();
        assert!(failure.is_space());
        assert!(failure.to_string().contains("GB free, 18446744073.7 GB needed"), "{failure}");
    }
}
