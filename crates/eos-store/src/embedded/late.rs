//! Relaxed durability: a batch is checked and answered at once, in memory, and a thread writes what came together in
//! one transaction at most [`MAX_DELAY`] later. Until then reads find it in memory. A crash may lose that much, never
//! the file's integrity; a record that is written several times in between goes to the disk once.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use redb::{Database, ReadableDatabase};
use tokio::sync::oneshot;

use super::{RECORDS, failed};
use crate::batch::{Batch, Change, Version};
use crate::error::StoreError;
use crate::records::Pending;

/// How long a relaxed write may be on its way to the disk.
pub const MAX_DELAY: Duration = Duration::from_millis(100);
/// So many bytes may wait in memory; beyond it a batch is answered only when it is written.
const MOST_WAITING: usize = 16 << 20;

/// The version and the value of each key; no value: deleted.
pub type Unwritten = BTreeMap<String, (Version, Option<Vec<u8>>)>;

#[derive(Default)]
struct State {
    /// Since the last write began.
    fresh: Unwritten,
    bytes: usize,
    /// What is being written now: not in the file yet, or not for sure.
    writing: Arc<Unwritten>,
    /// Answered with the write after this one.
    held_back: Vec<oneshot::Sender<Result<(), StoreError>>>,
    /// The last write failed: nothing more is taken until one succeeds.
    broken: Option<StoreError>,
    ends: bool,
}

impl State {
    fn find(&self, key: &str) -> Option<&(Version, Option<Vec<u8>>)> {
        self.fresh.get(key).or_else(|| self.writing.get(key))
    }
}

struct Shared {
    database: Arc<Database>,
    place: String,
    state: Mutex<State>,
    wake: Condvar,
}

pub struct Late {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

impl Late {
    pub fn start(database: Arc<Database>, place: String) -> std::io::Result<Late> {
        let shared = Arc::new(Shared { database, place, state: Mutex::default(), wake: Condvar::new() });
        let writer = std::thread::Builder::new().name("store-writer".into());
        let writer = {
            let shared = Arc::clone(&shared);
            writer.spawn(move || shared.write_until_the_end())?
        };
        Ok(Late { shared, writer: Some(writer) })
    }

    pub fn submit(&self, batch: Batch) -> Pending {
        let mut state = self.shared.lock();
        if let Err(error) = self.shared.check(&state, &batch) {
            return Pending::ready(Err(error));
        }
        let idle = state.fresh.is_empty();
        for (key, expected, change) in batch.changes {
            let row = match change {
                Change::Put(value) => (expected + 1, Some(value)),
                Change::Delete => (0, None),
                Change::Check => continue,
            };
            state.bytes += key.len() + row.1.as_ref().map_or(0, Vec::len);
            state.fresh.insert(key, row);
        }
        if idle && !state.fresh.is_empty() {
            self.shared.wake.notify_one();
        }
        if state.bytes > MOST_WAITING {
            let (answer, pending) = oneshot::channel();
            state.held_back.push(answer);
            return Pending(pending);
        }
        Pending::ready(Ok(()))
    }

    /// A record that is not in the file yet; the inner None: it is deleted.
    pub fn get(&self, key: &str) -> Option<Option<(Version, Vec<u8>)>> {
        let state = self.shared.lock();
        state.find(key).map(|(version, value)| value.clone().map(|value| (*version, value)))
    }

    /// Everything that is not in the file yet, and the file at the same moment: a batch is in one of them as a whole.
    pub fn all(&self) -> Result<(Unwritten, redb::ReadTransaction), redb::Error> {
        let state = self.shared.lock();
        let file = self.shared.database.begin_read()?;
        let mut all = Unwritten::clone(&state.writing);
        all.extend(state.fresh.iter().map(|(key, row)| (key.clone(), row.clone())));
        Ok((all, file))
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        self.shared.lock().ends = true;
        self.shared.wake.notify_one();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, state: &State, batch: &Batch) -> Result<(), StoreError> {
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        let read = |reason: redb::Error| failed("read", &self.place, &reason);
        let mut table = None;
        for (key, expected, _) in &batch.changes {
            let actual = match (state.find(key), &table) {
                (Some((version, _)), _) => *version,
                (None, None) => {
                    let transaction = self.database.begin_read().map_err(|e| read(e.into()))?;
                    let opened = transaction.open_table(RECORDS).map_err(|e| read(e.into()))?;
                    version_in(table.insert(opened), key).map_err(read)?
                }
                (None, Some(table)) => version_in(table, key).map_err(read)?,
            };
            if actual != *expected {
                return Err(StoreError::Conflict { key: key.clone(), expected: *expected, actual });
            }
        }
        Ok(())
    }

    fn write_until_the_end(&self) {
        loop {
            let mut state = self.lock();
            while state.fresh.is_empty() && !state.ends {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if !state.ends {
                // More is to come. Woken early only to end.
                let still = |state: &mut State| !state.ends && state.bytes <= MOST_WAITING;
                let waited = self.wake.wait_timeout_while(state, MAX_DELAY, still);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.fresh.is_empty() {
                return;
            }
            let (ends, answers) = (state.ends, std::mem::take(&mut state.held_back));
            state.bytes = 0;
            let writing = Arc::new(std::mem::take(&mut state.fresh));
            state.writing = Arc::clone(&writing);
            drop(state);
            let written = self.write(&writing).map_err(|reason| failed("write", &self.place, &reason));
            let mut state = self.lock();
            state.writing = Arc::default();
            if written.is_err() {
                // Tried again after the same delay, with what has come since on top.
                let newer = std::mem::replace(&mut state.fresh, Unwritten::clone(&writing));
                state.fresh.extend(newer);
            }
            state.broken = written.clone().err();
            drop(state);
            for answer in answers {
                let _ = answer.send(written.clone());
            }
            if ends && written.is_err() {
                // Nobody is left to tell; the next open finds what did reach the disk.
                return;
            }
        }
    }

    fn write(&self, changes: &Unwritten) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        {
            let mut table = transaction.open_table(RECORDS)?;
            for (key, (version, value)) in changes {
                match value {
                    Some(value) => drop(table.insert(key.as_str(), (*version, value.as_slice()))?),
                    None => drop(table.remove(key.as_str())?),
                }
            }
        }
        Ok(transaction.commit()?)
    }
}

fn version_in(table: &redb::ReadOnlyTable<&str, (u64, &[u8])>, key: &str) -> Result<Version, redb::Error> {
    Ok(table.get(key)?.map_or(0, |row| row.value().0))
}
