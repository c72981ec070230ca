//! Records in a redb file. What was taken waits in memory until a thread writes it there ([`waiting`]); until then a
//! [`log`] beside the file makes it durable before it is answered ([`groups`]), unless answers may come before the disk.

mod entry;
mod file;
mod groups;
mod log;
mod waiting;

use std::path::Path;
use std::sync::Arc;

use self::file::StoreFile;
use self::groups::Groups;
pub(crate) use self::groups::Lead;
use self::log::Log;
use self::waiting::{Unwritten, Waiting};
use crate::batch::Batch;
use crate::error::StoreError;
use crate::records::{Pending, Record, Records};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Answered after fsync.
    #[default]
    Full,
    /// Answered before; whatever is answered is on disk a tenth of a second later, plus the time that writing takes.
    /// A crash may lose that much, never the file's integrity.
    Relaxed,
}

pub struct EmbeddedRecords {
    /// Where every answer is durable; it goes before what it fills.
    groups: Option<Groups>,
    waiting: Waiting,
}

impl EmbeddedRecords {
    /// Opens or makes the file, which a second process is refused, and takes over what a crash left in the log.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let file = StoreFile::open(path)?;
        let (store, kept) = file.prepare()?;
        let log = path.with_extension("log");
        let kept = take_over(&file, Log::left(&log, store, kept)?)?;
        let log = match durability {
            Durability::Full => Some(Log::open(&log, store, kept)?),
            Durability::Relaxed => None,
        };
        let place = file.place();
        let started = |e| StoreError::Io {
            operation: "start the writer of",
            place: place.clone(),
            reason: std::io::Error::to_string(&e),
        };
        let logged = log.is_some();
        let waiting = Waiting::start(file, log).map_err(started)?;
        let groups = logged.then(|| Groups::start(Arc::clone(&waiting.shared)));
        Ok(Self { groups: groups.transpose().map_err(started)?, waiting })
    }
}

impl Records for EmbeddedRecords {
    fn all(&self) -> Result<Vec<Record>, StoreError> {
        let (unwritten, mut records) = self.waiting.all()?;
        if !unwritten.is_empty() {
            records.retain(|record| !unwritten.contains_key(&record.key));
            records.extend(
                unwritten
                    .into_iter()
                    .filter_map(|(key, (version, value))| Some(Record { key, version, value: value? })),
            );
            records.sort_by(|a, b| a.key.cmp(&b.key));
        }
        Ok(records)
    }

    fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.waiting.get(key)
    }

    fn submit(&self, batch: Batch) -> Pending {
        match &self.groups {
            Some(groups) => groups.submit(batch),
            None => self.waiting.submit(batch),
        }
    }
}

/// Writes what a crash left in the log into the file. How much of the log the file has then.
fn take_over(file: &StoreFile, left: log::Left) -> Result<u64, StoreError> {
    if left.entries.is_empty() {
        return Ok(left.generation);
    }
    let mut rows = Unwritten::new();
    for entry in &left.entries {
        entry::decode(entry, &mut rows).ok_or_else(|| StoreError::Damaged {
            place: file.place(),
            reason: "its log holds what this program did not write".to_owned(),
        })?;
    }
    file.write(&rows, Some(left.generation))?;
    Ok(left.generation)
}
