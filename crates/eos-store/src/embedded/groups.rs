//! Group commit: a thread takes everything that is queued, checks each batch (one that conflicts is left out, the others
//! stay), makes all of them durable with one sync of the log, and answers. Under load many writers share a sync; alone, a
//! writer waits for no one.

use std::sync::mpsc;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::entry;
use super::log::{self, SIDE};
use super::waiting::{Shared, Unwritten};
use crate::batch::{Batch, Change};
use crate::error::StoreError;
use crate::records::Pending;

/// Bytes of a group: bounds how long its first writer waits for the others' work, and lets a side of the log take two.
const MAX_GROUP: usize = SIDE / 4;

type Answer = oneshot::Sender<Result<(), StoreError>>;

pub struct Groups {
    queue: Option<mpsc::Sender<(Batch, Answer)>>,
    writer: Option<JoinHandle<()>>,
}

impl Groups {
    pub fn start(shared: Arc<Shared>) -> std::io::Result<Groups> {
        let (queue, waiting) = mpsc::channel();
        let writer = std::thread::Builder::new().name("store-log".into());
        let writer = writer.spawn(move || write_groups(&shared, &waiting))?;
        Ok(Groups { queue: Some(queue), writer: Some(writer) })
    }

    pub fn submit(&self, batch: Batch) -> Pending {
        let (answer, pending) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A writer that is gone drops the answer, which the receiver reads as `Closed`.
            let _ = queue.send((batch, answer));
        }
        Pending(pending)
    }
}

impl Drop for Groups {
    /// Whatever was queued is written before the files are let go.
    fn drop(&mut self) {
        self.queue.take();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write_groups(shared: &Shared, waiting: &mpsc::Receiver<(Batch, Answer)>) {
    while let Ok((batch, answer)) = waiting.recv() {
        let mut bytes = weight(&batch);
        let (mut batches, mut answers) = (vec![batch], vec![answer]);
        while bytes < MAX_GROUP
            && let Ok((batch, answer)) = waiting.try_recv()
        {
            bytes += weight(&batch);
            batches.push(batch);
            answers.push(answer);
        }
        for (answer, result) in answers.into_iter().zip(write_group(shared, batches)) {
            // The caller may have gone away; the write stands.
            let _ = answer.send(result);
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
        results.iter_mut().filter(|result| result.is_ok()).for_each(|result| *result = Err(error.clone()));
    }
    results
}

fn make_durable(shared: &Shared, entries: &[Vec<u8>], rows: Unwritten) -> Result<(), StoreError> {
    let Some(log) = &shared.log else { return Err(StoreError::Closed) };
    let needed: usize = entries.iter().map(|entry| log::size(entry)).sum();
    if needed > SIDE {
        // No side takes it. This thread alone adds to what waits, so nothing comes between.
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
