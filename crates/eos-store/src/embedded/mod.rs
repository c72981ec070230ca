//! Records in one redb file, written by one thread: [`groups`] when every answer is durable, [`late`] when answers may
//! come before the disk.

mod groups;
mod late;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use self::groups::Groups;
use self::late::Late;
use crate::batch::Batch;
use crate::error::StoreError;
use crate::records::{Pending, Record, Records};

const RECORDS: TableDefinition<'_, &str, (u64, &[u8])> = TableDefinition::new("records");
const FORMAT: TableDefinition<'_, &str, u64> = TableDefinition::new("format");
const KNOWN_FORMAT: u64 = 1;
/// Bytes of pages that redb keeps: whoever reads much keeps an index of its own, and would keep everything twice.
const CACHE: usize = 2 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Answered after fsync.
    #[default]
    Full,
    /// Answered before; whatever is answered is on disk a tenth of a second later, plus the time that writing takes.
    /// A crash may lose that much, never the file's integrity.
    Relaxed,
}

enum Writer {
    Groups(Groups),
    Late(Late),
}

pub struct EmbeddedRecords {
    database: Arc<Database>,
    place: String,
    writer: Writer,
}

fn failed(operation: &'static str, place: &str, reason: &redb::Error) -> StoreError {
    StoreError::Io { operation, place: place.to_owned(), reason: reason.to_string() }
}

impl EmbeddedRecords {
    /// Opens or makes the file. redb locks it: a second process is refused.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        let opened = Database::builder().set_cache_size(CACHE).create(path);
        let database = Arc::new(opened.map_err(|e| failed("open", &place, &e.into()))?);
        check_format(&database, &place)?;
        let own = (Arc::clone(&database), place.clone());
        let writer = match durability {
            Durability::Full => Groups::start(own.0, own.1).map(Writer::Groups),
            Durability::Relaxed => Late::start(own.0, own.1).map(Writer::Late),
        };
        let writer = writer.map_err(|e| failed("start the writer of", &place, &redb::Error::Io(e)))?;
        Ok(Self { database, place, writer })
    }

    fn read<T>(&self, read: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, StoreError> {
        read().map_err(|reason| failed("read", &self.place, &reason))
    }
}

impl Records for EmbeddedRecords {
    fn all(&self) -> Result<Vec<Record>, StoreError> {
        let (unwritten, mut records) = self.read(|| {
            let (unwritten, file) = match &self.writer {
                Writer::Late(late) => late.all()?,
                Writer::Groups(_) => (BTreeMap::new(), self.database.begin_read()?),
            };
            let table = file.open_table(RECORDS)?;
            let mut records = Vec::new();
            for entry in table.iter()? {
                let (key, row) = entry?;
                let (version, value) = row.value();
                records.push(Record { key: key.value().to_owned(), version, value: value.to_vec() });
            }
            Ok((unwritten, records))
        })?;
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
        if let Writer::Late(late) = &self.writer
            && let Some(found) = late.get(key)
        {
            return Ok(found.map(|(version, value)| Record { key: key.to_owned(), version, value }));
        }
        self.read(|| {
            let row = self.database.begin_read()?.open_table(RECORDS)?.get(key)?;
            Ok(row.map(|row| {
                let (version, value) = row.value();
                Record { key: key.to_owned(), version, value: value.to_vec() }
            }))
        })
    }

    fn submit(&self, batch: Batch) -> Pending {
        match &self.writer {
            Writer::Groups(groups) => groups.submit(batch),
            Writer::Late(late) => late.submit(batch),
        }
    }
}

fn check_format(database: &Database, place: &str) -> Result<(), StoreError> {
    let io = |reason: redb::Error| failed("prepare", place, &reason);
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
