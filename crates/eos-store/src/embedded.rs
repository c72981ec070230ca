//! Records in one redb file, written by one thread.
//!
//! Group commit: the writer takes everything that is queued, applies each batch inside one transaction (a
//! batch that conflicts is left out, the others stay), and answers all of them after one fsync. Under load
//! many writers share a sync; alone, a writer waits for no one.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use tokio::sync::oneshot;

use crate::batch::{Batch, Change, Version};
use crate::error::StoreError;
use crate::records::{Pending, Record, Records};

const RECORDS: TableDefinition<'_, &str, (u64, &[u8])> = TableDefinition::new("records");
const FORMAT: TableDefinition<'_, &str, u64> = TableDefinition::new("format");
const KNOWN_FORMAT: u64 = 1;
/// Bytes of pages that redb keeps: whoever reads much keeps an index of its own, and would keep everything twice.
const CACHE: usize = 2 << 20;
/// Bounds how long the first writer of a group waits for the others' work.
const MAX_GROUP: usize = 1_024;
/// How long a relaxed write may be on its way to the disk.
pub const MAX_DELAY: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Answered after fsync.
    #[default]
    Full,
    /// Answered before; whatever is answered is on disk at most [`MAX_DELAY`] later. A crash may lose that
    /// much, never the file's integrity.
    Relaxed,
}

type Answer = oneshot::Sender<Result<(), StoreError>>;

pub struct EmbeddedRecords {
    database: Arc<Database>,
    place: String,
    queue: Option<mpsc::Sender<(Batch, Answer)>>,
    writer: Option<JoinHandle<()>>,
}

impl EmbeddedRecords {
    /// Opens or makes the file. redb locks it: a second process is refused.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        let failed = |operation| {
            let place = place.clone();
            move |reason: redb::Error| StoreError::Io { operation, place, reason: reason.to_string() }
        };
        let opened = Database::builder().set_cache_size(CACHE).create(path);
        let database = Arc::new(opened.map_err(|e| failed("open")(e.into()))?);
        check_format(&database, &place)?;
        let (queue, waiting) = mpsc::channel();
        let writer = {
            let (database, place) = (Arc::clone(&database), place.clone());
            std::thread::Builder::new()
                .name("store-writer".into())
                .spawn(move || write_groups(&database, &place, durability, &waiting))
                .map_err(|e| failed("start the writer of")(redb::Error::Io(e)))?
        };
        Ok(Self { database, place, queue: Some(queue), writer: Some(writer) })
    }

    fn failed(&self, operation: &'static str) -> impl Fn(redb::Error) -> StoreError + use<> {
        let place = self.place.clone();
        move |reason| StoreError::Io { operation, place: place.clone(), reason: reason.to_string() }
    }
}

impl Drop for EmbeddedRecords {
    /// Whatever was queued is written before the file is let go.
    fn drop(&mut self) {
        self.queue.take();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Records for EmbeddedRecords {
    fn all(&self) -> Result<Vec<Record>, StoreError> {
        let failed = self.failed("read");
        let transaction = self.database.begin_read().map_err(|e| failed(e.into()))?;
        let table = transaction.open_table(RECORDS).map_err(|e| failed(e.into()))?;
        let mut records = Vec::new();
        for entry in table.iter().map_err(|e| failed(e.into()))? {
            let (key, row) = entry.map_err(|e| failed(e.into()))?;
            let (version, value) = row.value();
            records.push(Record { key: key.value().to_owned(), version, value: value.to_vec() });
        }
        Ok(records)
    }

    fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        let failed = self.failed("read");
        let transaction = self.database.begin_read().map_err(|e| failed(e.into()))?;
        let table = transaction.open_table(RECORDS).map_err(|e| failed(e.into()))?;
        let row = table.get(key).map_err(|e| failed(e.into()))?;
        Ok(row.map(|row| {
            let (version, value) = row.value();
            Record { key: key.to_owned(), version, value: value.to_vec() }
        }))
    }

    fn submit(&self, batch: Batch) -> Pending {
        let (answer, pending) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A writer that is gone drops the answer, which the receiver reads as `Closed`.
            let _ = queue.send((batch, answer));
        }
        Pending(pending)
    }
}

fn check_format(database: &Database, place: &str) -> Result<(), StoreError> {
    let io = |reason: redb::Error| StoreError::Io {
        operation: "prepare",
        place: place.to_owned(),
        reason: reason.to_string(),
    };
    let transaction = database.begin_write().map_err(|e| io(e.into()))?;
    {
        transaction.open_table(RECORDS).map_err(|e| io(e.into()))?;
        let mut table = transaction.open_table(FORMAT).map_err(|e| io(e.into()))?;
        let found = table.get("format").map_err(|e| io(e.into()))?.map(|format| format.value());
        match found {
            Some(found) if found > KNOWN_FORMAT => {
                return Err(StoreError::NewerFormat { place: place.to_owned(), found, known: KNOWN_FORMAT });
            }
            Some(_) => {}
            None => {
                table.insert("format", KNOWN_FORMAT).map_err(|e| io(e.into()))?;
            }
        }
    }
    transaction.commit().map_err(|e| io(e.into()))
}

fn write_groups(
    database: &Database,
    place: &str,
    durability: Durability,
    waiting: &mpsc::Receiver<(Batch, Answer)>,
) {
    // Since when something is written and not synced; only relaxed writes leave anything behind.
    let mut unsynced: Option<Instant> = None;
    loop {
        let first = match unsynced {
            None => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(since) => waiting.recv_timeout(MAX_DELAY.saturating_sub(since.elapsed())),
        };
        let group: Vec<_> = match first {
            Ok(first) => std::iter::once(first).chain(waiting.try_iter().take(MAX_GROUP - 1)).collect(),
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => {
                if unsynced.is_some() {
                    // Nobody is left to tell; the next open finds what did reach the disk.
                    let _ = write_group(database, &[], true);
                }
                return;
            }
        };
        let sync =
            durability == Durability::Full || unsynced.is_some_and(|since| since.elapsed() >= MAX_DELAY);
        let (batches, answers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        // Nothing to write: the groups before are on disk, which is all that an empty batch asks for.
        let idle = unsynced.is_none() && batches.iter().all(Batch::is_empty);
        let written = if idle {
            Ok(batches.iter().map(|_| Ok(())).collect())
        } else {
            write_group(database, &batches, sync)
        };
        unsynced = match &written {
            Ok(_) if sync || idle => None,
            Ok(_) => unsynced.or_else(|| Some(Instant::now())),
            // Tried again after the same delay.
            Err(_) => unsynced.map(|_| Instant::now()),
        };
        match written {
            Ok(results) => {
                for (answer, result) in answers.into_iter().zip(results) {
                    // The caller may have gone away; the write stands.
                    let _ = answer.send(result);
                }
            }
            Err(reason) => {
                let error = StoreError::Io {
                    operation: "write",
                    place: place.to_owned(),
                    reason: reason.to_string(),
                };
                for answer in answers {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
    }
}

fn write_group(
    database: &Database,
    batches: &[Batch],
    sync: bool,
) -> Result<Vec<Result<(), StoreError>>, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction
        .set_durability(if sync { redb::Durability::Immediate } else { redb::Durability::None })
        .map_err(redb::Error::from)?;
    let results = {
        let mut table = transaction.open_table(RECORDS)?;
        batches.iter().map(|batch| apply(&mut table, batch)).collect::<Result<Vec<_>, redb::Error>>()?
    };
    transaction.commit()?;
    Ok(results)
}

/// All checks come before the first write, so a refused batch leaves no trace in the shared transaction.
fn apply(
    table: &mut redb::Table<'_, &str, (u64, &[u8])>,
    batch: &Batch,
) -> Result<Result<(), StoreError>, redb::Error> {
    for (key, expected, _) in &batch.changes {
        let actual: Version = table.get(key.as_str())?.map_or(0, |row| row.value().0);
        if actual != *expected {
            return Ok(Err(StoreError::Conflict { key: key.clone(), expected: *expected, actual }));
        }
    }
    for (key, expected, change) in &batch.changes {
        match change {
            Change::Put(value) => {
                table.insert(key.as_str(), (expected + 1, value.as_slice()))?;
            }
            Change::Delete => {
                table.remove(key.as_str())?;
            }
            Change::Check => {}
        }
    }
    Ok(Ok(()))
}
