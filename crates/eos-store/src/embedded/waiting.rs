//! What was taken and is not in the redb file yet: found here by whoever reads, and written into the file by a thread,
//! everything that came together in one transaction. A record that is written several times in between goes to the file
//! once.
//!
//! With a [`Log`] it is durable already, and [`super::groups`] puts it here. Without one, durability is relaxed: a batch
//! is checked and answered at once, and a crash may lose what the thread has not written, never the file's integrity.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;

use super::file::StoreFile;
use super::log::{Log, SIDE};
use crate::batch::{Batch, Change, Version};
use crate::error::StoreError;
use crate::records::{Pending, Record};

/// How long a relaxed write may be on its way to the disk.
const RELAXED_DELAY: Duration = Duration::from_millis(100);
/// So many bytes may wait in memory; beyond it a relaxed batch is answered only when it is written.
const MOST_RELAXED: usize = 16 << 20;
/// What is in the log is in no hurry: this only keeps the memory and the time of the next start small.
const LOGGED_DELAY: Duration = Duration::from_secs(1);
/// The thread begins while the log's side still has room, so that nobody waits for it.
const MOST_LOGGED: usize = SIDE / 2;

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
    /// The last write failed; it is tried again.
    broken: Option<StoreError>,
    /// Somebody waits for the log to turn.
    hurry: bool,
    /// How often the log has turned.
    turns: u64,
    ends: bool,
}

impl State {
    fn find(&self, key: &str) -> Option<&(Version, Option<Vec<u8>>)> {
        self.fresh.get(key).or_else(|| self.writing.get(key))
    }

    fn put(&mut self, rows: Unwritten) {
        for (key, row) in rows {
            self.bytes += key.len() + row.1.as_ref().map_or(0, Vec::len);
            self.fresh.insert(key, row);
        }
    }
}

pub struct Shared {
    pub file: StoreFile,
    pub log: Option<Mutex<Log>>,
    state: Mutex<State>,
    /// The thread has something to do.
    wake: Condvar,
    /// The log has turned, or cannot.
    turned: Condvar,
    /// Held by whoever writes into the file.
    writes: Mutex<()>,
    /// What a batch failed with, other than a conflict. Whoever wrote it may have decided others on top of it, which must
    /// not be taken without it: nothing is, until the store is opened again.
    failed: OnceLock<StoreError>,
}

pub struct Waiting {
    pub shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

impl Waiting {
    pub fn start(file: StoreFile, log: Option<Log>) -> std::io::Result<Waiting> {
        let shared = Arc::new(Shared {
            file,
            log: log.map(Mutex::new),
            state: Mutex::default(),
            wake: Condvar::new(),
            turned: Condvar::new(),
            writes: Mutex::default(),
            failed: OnceLock::new(),
        });
        let writer = std::thread::Builder::new().name("store-writer".into());
        let writer = {
            let shared = Arc::clone(&shared);
            writer.spawn(move || shared.write_until_the_end())?
        };
        Ok(Waiting { shared, writer: Some(writer) })
    }

    /// Relaxed: checked and answered here.
    pub fn submit(&self, batch: Batch) -> Pending {
        let mut state = self.shared.lock();
        let rows = match self.shared.check(&state, &Unwritten::new(), batch) {
            Ok(rows) => rows,
            Err(error) => return Pending::ready(Err(error)),
        };
        let idle = state.fresh.is_empty();
        state.put(rows);
        let full = state.bytes > MOST_RELAXED;
        if full || (idle && !state.fresh.is_empty()) {
            self.shared.wake.notify_one();
        }
        if full {
            let (answer, pending) = oneshot::channel();
            state.held_back.push(answer);
            return Pending::new(pending);
        }
        Pending::ready(Ok(()))
    }

    pub fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        {
            let state = self.shared.lock();
            if let Some((version, value)) = state.find(key) {
                let record = |value| Record { key: key.to_owned(), version: *version, value };
                return Ok(value.clone().map(record));
            }
        }
        self.shared.file.get(key)
    }

    /// Everything that is not in the file yet, and the file at the same moment: a batch is in one of them as a whole.
    pub fn all(&self) -> Result<(Unwritten, Vec<Record>), StoreError> {
        let state = self.shared.lock();
        let file = self.shared.file.all()?;
        let mut all = Unwritten::clone(&state.writing);
        all.extend(state.fresh.iter().map(|(key, row)| (key.clone(), row.clone())));
        Ok((all, file))
    }
}

impl Drop for Waiting {
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

    /// [`Shared::check`] for whoever holds no lock: over `staged`, which is about to be put.
    pub fn check_over(&self, staged: &Unwritten, batch: Batch) -> Result<Unwritten, StoreError> {
        self.check(&self.lock(), staged, batch)
    }

    /// From here on nothing is taken any more.
    pub fn fail(&self, error: &StoreError) {
        if !matches!(error, StoreError::Conflict { .. }) {
            let _ = self.failed.set(error.clone());
        }
    }

    fn check(&self, state: &State, staged: &Unwritten, batch: Batch) -> Result<Unwritten, StoreError> {
        if let Some(error) = self.failed.get() {
            return Err(error.clone());
        }
        self.rows_of(state, staged, batch).inspect_err(|error| self.fail(error))
    }

    /// The rows that a batch leaves behind, if every version is the one that it expects.
    fn rows_of(&self, state: &State, staged: &Unwritten, batch: Batch) -> Result<Unwritten, StoreError> {
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        let known = |key: &str| staged.get(key).or_else(|| state.find(key)).map(|(version, _)| *version);
        let unknown = batch.changes.iter().map(|(key, ..)| key.as_str()).filter(|key| known(key).is_none());
        let mut unknown = unknown.peekable();
        let in_file = if unknown.peek().is_some() { self.file.versions(unknown)? } else { Vec::new() };
        let mut in_file = in_file.into_iter();
        for (key, expected, _) in &batch.changes {
            let actual = known(key).or_else(|| in_file.next()).unwrap_or_default();
            if actual != *expected {
                return Err(StoreError::Conflict { key: key.clone(), expected: *expected, actual });
            }
        }
        let rows = batch.changes.into_iter().filter_map(|(key, expected, change)| match change {
            Change::Put(value) => Some((key, (expected + 1, Some(value)))),
            Change::Delete => Some((key, (0, None))),
            Change::Check => None,
        });
        Ok(rows.collect())
    }

    /// Takes rows that are durable in the log. The log is still held.
    pub fn put(&self, rows: Unwritten) {
        let mut state = self.lock();
        let idle = state.fresh.is_empty();
        state.put(rows);
        if idle || state.bytes > MOST_LOGGED {
            self.wake.notify_one();
        }
    }

    /// Waits until the log has gone on from where it is at `turns`.
    pub fn wait_for_turn(&self, turns: u64) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.hurry = true;
        self.wake.notify_one();
        while state.turns == turns && state.broken.is_none() {
            state = self.turned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.broken.clone().map_or(Ok(()), Err)
    }

    pub fn turns(&self) -> u64 {
        self.lock().turns
    }

    fn write_until_the_end(&self) {
        let (delay, most) = match self.log {
            Some(_) => (LOGGED_DELAY, MOST_LOGGED),
            None => (RELAXED_DELAY, MOST_RELAXED),
        };
        loop {
            let mut state = self.lock();
            while state.fresh.is_empty() && !state.ends {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            // More is to come, unless it ends or somebody waits.
            let still = |state: &mut State| !state.ends && !state.hurry && state.bytes <= most;
            let waited = self.wake.wait_timeout_while(state, delay, still);
            let state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let (ends, nothing) = (state.ends, state.fresh.is_empty());
            drop(state);
            if nothing && ends {
                return;
            }
            if self.write_waiting().is_err() && ends {
                // Nobody is left to tell; the next open finds the log, or what did reach the disk.
                return;
            }
        }
    }

    /// Writes everything that waits into the file.
    pub fn write_waiting(&self) -> Result<(), StoreError> {
        let _one_at_a_time = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        // While the log is held, no group is between its sync and its place in memory.
        let mut log = self.log.as_ref().map(|log| log.lock().unwrap_or_else(PoisonError::into_inner));
        let mut state = self.lock();
        state.hurry = false;
        if state.fresh.is_empty() {
            return Ok(());
        }
        let answers = std::mem::take(&mut state.held_back);
        state.bytes = 0;
        let writing = Arc::new(std::mem::take(&mut state.fresh));
        state.writing = Arc::clone(&writing);
        let mut kept = None;
        if let Some(held) = log.as_mut() {
            // After a failed write both sides hold what is not in the file: then the log stays as it is, and nothing is
            // taken, until this write has succeeded.
            if state.broken.is_none() {
                kept = Some(held.turn());
                state.turns += 1;
                self.turned.notify_all();
                log = None;
            } else {
                kept = Some(held.generation());
            }
        }
        let again = state.broken.is_some();
        drop(state);
        // After a failure redb takes nothing more until it is opened again.
        let opened = if again { self.file.open_again() } else { Ok(()) };
        let written = opened.and_then(|()| self.file.write(&writing, kept));
        let mut state = self.lock();
        state.writing = Arc::default();
        if written.is_err() {
            // Tried again after the same delay, with what has come since on top.
            let newer = std::mem::replace(&mut state.fresh, Unwritten::clone(&writing));
            state.fresh.extend(newer);
        } else if let Some(held) = log.as_mut() {
            held.turn();
            state.turns += 1;
        }
        state.broken = written.clone().err();
        self.turned.notify_all();
        drop(state);
        for answer in answers {
            let _ = answer.send(written.clone());
        }
        written
    }
}
