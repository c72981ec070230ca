//! [`Records`] on a folder.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::durable::{failed, read, remove, replace, sync_folder};
use super::layout::{Changed, Last, read_last, read_record, write_last, write_record};
use crate::batch::{Batch, Change, Version};
use crate::error::StoreError;
use crate::key_name;
use crate::records::{Pending, Record, Records};

const FORMAT: u64 = 1;
/// A batch takes milliseconds; longer means that the other writer is stopped.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
/// After so many changes under its eyes a reader asks writers to wait.
const TRIES: usize = 50;

/// Several processes may have the same folder open, to read and to write.
pub struct FolderRecords {
    folder: PathBuf,
    /// The batch whose files are known to be in place.
    settled: AtomicU64,
}

impl FolderRecords {
    /// The folder is made when the first record is written.
    pub fn open(folder: &Path) -> Result<FolderRecords, StoreError> {
        let records = FolderRecords { folder: folder.to_owned(), settled: AtomicU64::new(0) };
        records.check_format()?;
        Ok(records)
    }

    fn check_format(&self) -> Result<bool, StoreError> {
        let path = self.folder.join("format");
        let Some(bytes) = read(&path)? else { return Ok(false) };
        let place = path.display().to_string();
        let found = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok());
        match found {
            None => Err(StoreError::Damaged { place, reason: "it is not a number".to_owned() }),
            Some(found) if found > FORMAT => Err(StoreError::NewerFormat { place, found, known: FORMAT }),
            Some(_) => Ok(true),
        }
    }

    fn records_folder(&self) -> PathBuf {
        self.folder.join("records")
    }

    fn path_of(&self, key: &str) -> Result<PathBuf, StoreError> {
        let name =
            key_name::encode(key).map_err(|reason| StoreError::BadKey { key: key.to_owned(), reason })?;
        Ok(self.records_folder().join(name))
    }

    fn last(&self) -> Result<Last, StoreError> {
        let path = self.folder.join("last");
        let bytes = read(&path)?;
        bytes.map_or_else(|| Ok(Last::default()), |bytes| read_last(&bytes, &path.display().to_string()))
    }

    fn file_of(&self, key: &str) -> Result<Option<Record>, StoreError> {
        let path = self.path_of(key)?;
        read(&path)?.map(|bytes| read_record(&bytes, &path.display().to_string())).transpose()
    }

    fn read_files(&self) -> Result<BTreeMap<String, Record>, StoreError> {
        let folder = self.records_folder();
        let mut records = BTreeMap::new();
        let entries = match std::fs::read_dir(&folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(records),
            entries => entries.map_err(|e| failed("list", &folder, &e))?,
        };
        for entry in entries {
            let entry = entry.map_err(|e| failed("list", &folder, &e))?;
            // What is no key's name is a file on its way, or not ours.
            let Some(key) = entry.file_name().to_str().and_then(key_name::decode) else { continue };
            if let Some(record) = self.file_of(&key)? {
                records.insert(key, record);
            }
        }
        Ok(records)
    }

    /// Locks the folder against other writers; makes it first where it is not there.
    fn lock(&self) -> Result<File, StoreError> {
        let made = self.check_format()?;
        if !made {
            let records = self.records_folder();
            std::fs::create_dir_all(&records).map_err(|e| failed("make", &records, &e))?;
        }
        let path = self.folder.join("lock");
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = options.map_err(|e| failed("lock", &path, &e))?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_PATIENCE => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(TryLockError::WouldBlock) => {
                    let stopped = std::io::Error::other("another process holds the lock and does not go on");
                    return Err(failed("lock", &path, &stopped));
                }
                Err(TryLockError::Error(e)) => return Err(failed("lock", &path, &e)),
            }
        }
        if !made && !self.check_format()? {
            replace(&self.folder.join("format"), format!("{FORMAT}\n").as_bytes())?;
            sync_folder(&self.folder)?;
            for folder in self.folder.ancestors().skip(1).take(2) {
                // The folders above may be new as well; they may also not be ours to open.
                let _ = sync_folder(folder);
            }
        }
        Ok(file)
    }

    /// Under the lock: the files of `last` are in place, whoever began to put them there.
    fn settle(&self, last: &Last) -> Result<(), StoreError> {
        if self.settled.load(Ordering::Acquire) == last.generation {
            return Ok(());
        }
        for change in &last.changes {
            let path = self.path_of(&change.key)?;
            match &change.now {
                None => remove(&path)?,
                // A file that is there and whole was synced before it got its name.
                Some(now) if self.file_of(&change.key).is_ok_and(|there| there.as_ref() == Some(now)) => {}
                Some(now) => replace(&path, &write_record(now))?,
            }
        }
        sync_folder(&self.records_folder())?;
        self.settled.store(last.generation, Ordering::Release);
        Ok(())
    }

    fn write(&self, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_empty() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let before = self.last()?;
        self.settle(&before)?;
        // All checks come before the first change: a refused batch leaves no trace.
        for (key, expected, _) in &batch.changes {
            let actual: Version = self.file_of(key)?.map_or(0, |record| record.version);
            if actual != *expected {
                return Err(StoreError::Conflict { key: key.clone(), expected: *expected, actual });
            }
        }
        let mut changes = BTreeMap::new();
        for (key, expected, change) in &batch.changes {
            let now = match change {
                Change::Check => continue,
                Change::Delete => None,
                Change::Put(value) => {
                    Some(Record { key: key.clone(), version: expected + 1, value: value.clone() })
                }
            };
            changes.insert(key.clone(), now);
        }
        if changes.is_empty() {
            return Ok(());
        }
        let changes = changes.into_iter().map(|(key, now)| Changed { key, now }).collect();
        let last = Last { generation: before.generation + 1, changes };
        // From this rename on the batch has happened.
        replace(&self.folder.join("last"), &write_last(&last))?;
        sync_folder(&self.folder)?;
        self.settle(&last)
    }
}

impl Records for FolderRecords {
    fn all(&self) -> Result<Vec<Record>, StoreError> {
        let mut lock = None;
        for attempt in 0.. {
            if attempt == TRIES && self.check_format()? {
                lock = Some(self.lock()?);
            }
            let last = self.last()?;
            let mut records = self.read_files()?;
            if lock.is_none() && self.last()?.generation != last.generation {
                continue;
            }
            for change in last.changes {
                match change.now {
                    Some(now) => records.insert(change.key, now),
                    None => records.remove(&change.key),
                };
            }
            return Ok(records.into_values().collect());
        }
        Ok(Vec::new())
    }

    fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        match self.last()?.changes.into_iter().find(|change| change.key == key) {
            Some(change) => Ok(change.now),
            // Written by a batch before the last, or by one that came just now: durable either way.
            None => self.file_of(key),
        }
    }

    /// Writes before it returns: a command has nothing else to do meanwhile.
    fn submit(&self, batch: Batch) -> Pending {
        Pending::ready(self.write(&batch))
    }

    fn last_sequence(&self) -> Pending<u64> {
        Pending::ready(self.last().map(|last| last.generation))
    }
}
