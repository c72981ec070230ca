//! Records in one redb file, written by one thread.
//!
//! Group commit: the writer takes everything that is queued, applies each batch inside one transaction (a
//! batch that conflicts is left out, the others stay), and answers all of them after one fsync. Under load
//! many writers share a sync; alone, a writer waits for no one.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use tokio::sync::oneshot;

use crate::batch::{Batch, Change, Version};
use crate::error::StoreError;
use crate::records::{Pending, Record, Records};

const RECORDS: TableDefinition<'_, &str, (u64, &[u8])> = TableDefinition::new("records");
const FORMAT: TableDefinition<'_, &str, u64> = TableDefinition::new("format");
const KNOWN_FORMAT: u64 = 1;
/// Bounds how long the first writer of a group waits for the others' work.
const MAX_GROUP: usize = 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Answered after fsync.
    #[default]
    Full,
    /// Answered after the write; a power cut may lose the last moments, a crash of the process does not lose
    /// the file's integrity.
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
        let database = Arc::new(Database::create(path).map_err(|e| failed("open")(e.into()))?);
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
    while let Ok(first) = waiting.recv() {
        let group: Vec<_> = std::iter::once(first).chain(waiting.try_iter().take(MAX_GROUP - 1)).collect();
        let (batches, answers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        match write_group(database, &batches, durability) {
            Ok(results) => {
                for (answer, result) in answers.into_iter().zip(results) {
                    // The caller may have gone away; the write stands.
                    let _ = answer.send(result);
                }
            }
            Err(reason) => {
                let error =
                    StoreError::Io { operation: "write", place: place.to_owned(), reason: reason.to_string() };
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
    durability: Durability,
) -> Result<Vec<Result<(), StoreError>>, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction
        .set_durability(match durability {
            Durability::Full => redb::Durability::Immediate,
            Durability::Relaxed => redb::Durability::None,
        })
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
