//! The redb file. After a failed write redb takes nothing more until it is opened again, so whoever uses it holds it only
//! for as long as that takes.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::waiting::Unwritten;
use crate::batch::Version;
use crate::error::StoreError;
use crate::records::Record;

const RECORDS: TableDefinition<'_, &str, (u64, &[u8])> = TableDefinition::new("records");
const FORMAT: TableDefinition<'_, &str, u64> = TableDefinition::new("format");
/// 1 had no log.
const KNOWN_FORMAT: u64 = 2;
/// Beside the format: a number of this store's own, and the generation of the log up to which the file has everything.
const STORE: &str = "store";
const KEPT: &str = "kept";
/// Bytes of pages that redb keeps: whoever reads much keeps an index of its own, and would keep everything twice.
const CACHE: usize = 512 << 10;

pub struct StoreFile {
    path: PathBuf,
    /// None: it could not be opened again.
    database: RwLock<Option<Database>>,
}

impl StoreFile {
    /// Opens or makes it. redb locks it: a second process is refused.
    pub fn open(path: &Path) -> Result<StoreFile, StoreError> {
        let file = StoreFile { path: path.to_owned(), database: RwLock::default() };
        file.open_again()?;
        Ok(file)
    }

    pub fn open_again(&self) -> Result<(), StoreError> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        // Its lock goes first.
        *database = None;
        let opened = Database::builder().set_cache_size(CACHE).create(&self.path);
        *database = Some(opened.map_err(|e| self.failed("open", &e.into()))?);
        Ok(())
    }

    pub fn place(&self) -> String {
        self.path.display().to_string()
    }

    pub fn failed(&self, operation: &'static str, reason: &redb::Error) -> StoreError {
        StoreError::Io { operation, place: self.place(), reason: reason.to_string() }
    }

    fn with<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or(redb::Error::PreviousIo);
        database.and_then(work).map_err(|reason| self.failed(operation, &reason))
    }

    /// Refuses a newer format. The store's own number, and how much of the log the file has.
    pub fn prepare(&self) -> Result<(u64, u64), StoreError> {
        self.with("prepare", |database| {
            let transaction = database.begin_write()?;
            transaction.open_table(RECORDS)?;
            let read = |key: &str| -> Result<Option<u64>, redb::Error> {
                Ok(transaction.open_table(FORMAT)?.get(key)?.map(|number| number.value()))
            };
            if let Some(found) = read("format")?.filter(|found| *found > KNOWN_FORMAT) {
                let (place, known) = (self.place(), KNOWN_FORMAT);
                return Ok(Err(StoreError::NewerFormat { place, found, known }));
            }
            let store = read(STORE)?.unwrap_or_else(crate::random_number);
            let kept = read(KEPT)?.unwrap_or_default();
            {
                let mut table = transaction.open_table(FORMAT)?;
                table.insert("format", KNOWN_FORMAT)?;
                table.insert(STORE, store)?;
            }
            transaction.commit()?;
            Ok(Ok((store, kept)))
        })?
    }

    pub fn all(&self) -> Result<Vec<Record>, StoreError> {
        self.with("read", |database| {
            let table = database.begin_read()?.open_table(RECORDS)?;
            let entries = table.iter()?.map(|entry| {
                let (key, row) = entry?;
                let (version, value) = row.value();
                Ok(Record { key: key.value().to_owned(), version, value: value.to_vec() })
            });
            entries.collect()
        })
    }

    pub fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.with("read", |database| {
            let row = database.begin_read()?.open_table(RECORDS)?.get(key)?;
            Ok(row.map(|row| {
                let (version, value) = row.value();
                Record { key: key.to_owned(), version, value: value.to_vec() }
            }))
        })
    }

    /// The versions of keys, 0 for those that are not there.
    pub fn versions<'a>(&self, keys: impl Iterator<Item = &'a str>) -> Result<Vec<Version>, StoreError> {
        self.with("read", |database| {
            let table = database.begin_read()?.open_table(RECORDS)?;
            keys.map(|key| Ok(table.get(key)?.map_or(0, |row| row.value().0))).collect()
        })
    }

    /// One transaction: the rows, and how far into the log they reach.
    pub fn write(&self, rows: &Unwritten, kept: Option<u64>) -> Result<(), StoreError> {
        self.with("write", |database| {
            let transaction = database.begin_write()?;
            {
                let mut table = transaction.open_table(RECORDS)?;
                for (key, (version, value)) in rows {
                    match value {
                        Some(value) => drop(table.insert(key.as_str(), (*version, value.as_slice()))?),
                        None => drop(table.remove(key.as_str())?),
                    }
                }
                if let Some(kept) = kept {
                    transaction.open_table(FORMAT)?.insert(KEPT, kept)?;
                }
            }
            Ok(transaction.commit()?)
        })
    }
}
