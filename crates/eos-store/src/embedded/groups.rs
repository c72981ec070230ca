//! Group commit: whoever is at work takes everything that is queued, checks each batch (one that conflicts is left out, the
//! others stay), makes all of them durable with one sync of the log, and answers. Under load that is a thread, and many
//! writers share a sync. A writer that comes alone is at work itself, as soon as it waits for its answer: waking the
//! thread and being woken by it would cost as much as a quick disk's sync.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

use super::entry;
use super::log::{self, SIDE};
use super::waiting::{Shared, Unwritten};
use crate::batch::{Batch, Change};
use crate::error::StoreError;
use crate::records::Pending;

/// Bytes of a group: bounds how long its first writer waits for the others' work, and lets a side of the log take two.
const MAX_GROUP: usize = SIDE / 4;

/// A group that is written within this time may be written by whoever came alone, on the spot: that is no longer than a
/// request takes anyway, so nobody else of the runtime waits for the disk. Leaving one's place in the runtime to another
/// thread meanwhile took as long as the sync of a quick disk, and each such thread keeps memory of its own.
const QUICK: Duration = Duration::from_micros(500);

type Answer = oneshot::Sender<Result<(), StoreError>>;

pub struct Groups {
    queue: Arc<Queue>,
    writer: Option<JoinHandle<()>>,
}

struct Queue {
    store: Arc<Shared>,
    state: Mutex<State>,
    /// The thread has something to do.
    wake: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<(Batch, Answer)>,
    /// Somebody writes a group.
    at_work: bool,
    /// The last group was of one batch: nobody else writes, most likely. And the disk is quick.
    alone: bool,
    ends: bool,
}

impl Groups {
    pub fn start(store: Arc<Shared>) -> std::io::Result<Groups> {
        let queue = Arc::new(Queue { store, state: Mutex::default(), wake: Condvar::new() });
        let writer = std::thread::Builder::new().name("store-log".into());
        let writer = {
            let queue = Arc::clone(&queue);
            writer.spawn(move || queue.write_until_the_end())?
        };
        Ok(Groups { queue, writer: Some(writer) })
    }

    pub fn submit(&self, batch: Batch) -> Pending {
        let (answer, pending) = oneshot::channel();
        let mut state = self.queue.lock();
        let alone = state.alone && !state.at_work && state.batches.is_empty();
        state.batches.push_back((batch, answer));
        drop(state);
        if alone {
            return Pending::with_lead(pending, Lead(Some(Arc::clone(&self.queue))));
        }
        self.queue.wake.notify_one();
        Pending::new(pending)
    }
}

impl Drop for Groups {
    /// Whatever was queued is written before the files are let go.
    fn drop(&mut self) {
        self.queue.lock().ends = true;
        self.queue.wake.notify_one();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// The right of a writer that came alone to write its group itself. Dropped without it, the thread does.
pub struct Lead(Option<Arc<Queue>>);

impl Lead {
    /// Writes, unless others were quicker, if this thread may wait for the disk: the only one of a runtime may not, because
    /// nothing else would go on meanwhile.
    pub fn take(mut self) {
        let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
        if matches!(flavor, Ok(RuntimeFlavor::CurrentThread)) {
            return;
        }
        if let Some(queue) = self.0.take() {
            queue.write_one_group();
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.wake.notify_one();
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_until_the_end(&self) {
        loop {
            let idle = |state: &mut State| state.at_work || state.batches.is_empty() && !state.ends;
            let state = self.wake.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
            if state.batches.is_empty() {
                return;
            }
            drop(state);
            self.write_one_group();
        }
    }

    /// Takes what is queued, unless somebody is at work: then they, or the thread after them, take it.
    fn write_one_group(&self) {
        let mut state = self.lock();
        if state.at_work || state.batches.is_empty() {
            return;
        }
        let (mut batches, mut answers, mut bytes) = (Vec::new(), Vec::new(), 0);
        while bytes < MAX_GROUP
            && let Some((batch, answer)) = state.batches.pop_front()
        {
            bytes += weight(&batch);
            batches.push(batch);
            answers.push(answer);
        }
        state.at_work = true;
        drop(state);
        let mut work = AtWork { queue: self, alone: false };
        let (single, began) = (batches.len() == 1, Instant::now());
        let results = write_group(&self.store, batches);
        work.alone = single && began.elapsed() < QUICK;
        drop(work);
        for (answer, result) in answers.into_iter().zip(results) {
            // The caller may have gone away; the write stands.
            let _ = answer.send(result);
        }
    }
}

/// Lets the next one at the queue, whatever happens to the group; what is queued by now is the thread's.
struct AtWork<'a> {
    queue: &'a Queue,
    alone: bool,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.at_work = false;
        state.alone = self.alone && state.batches.is_empty();
        let more = !state.batches.is_empty() || state.ends;
        drop(state);
        if more {
            self.queue.wake.notify_one();
        }
    }
}

fn weight(batch: &Batch) -> usize {
    let value = |change: &Change| if let Change::Put(value) = change { value.len() } else { 0 };
    batch.changes.iter().map(|(key, _, change)| key.len() + value(change)).sum()
}

fn write_group(shared: &Shared, batches: Vec<Batch>) -> Vec<Result<(), StoreError>> {
    let (mut staged, mut entries) = (Unwritten::new(), Vec::new());
    let mut results: Vec<Result<(), StoreError>> = batches
        .into_iter()
        .map(|batch| {
            let rows = shared.check_over(&staged, batch)?;
            if !rows.is_empty() {
                entries.push(entry::encode(&rows));
                staged.extend(rows);
            }
            Ok(())
        })
        .collect();
    // Nothing to write: the groups before are on disk, which is all that an empty batch asks for.
    let written = if entries.is_empty() { Ok(()) } else { make_durable(shared, &entries, staged) };
    if let Err(error) = written {
        shared.fail(&error);
        results.iter_mut().filter(|result| result.is_ok()).for_each(|result| *result = Err(error.clone()));
    }
    results
}

fn make_durable(shared: &Shared, entries: &[Vec<u8>], rows: Unwritten) -> Result<(), StoreError> {
    let Some(log) = &shared.log else { return Err(StoreError::Closed) };
    let needed: usize = entries.iter().map(|entry| log::size(entry)).sum();
    if needed > SIDE {
        // No side takes it. Whoever is at work alone adds to what waits, so nothing comes between.
        shared.write_waiting()?;
        return shared.file.write(&rows, None);
    }
    loop {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.room() < needed {
            let turns = shared.turns();
            drop(log);
            shared.wait_for_turn(turns)?;
            continue;
        }
        let io = |reason: std::io::Error| StoreError::Io {
            operation: "write",
            place: shared.file.place(),
            reason: reason.to_string(),
        };
        log.append(entries).map_err(io)?;
        shared.put(rows);
        return Ok(());
    }
}
