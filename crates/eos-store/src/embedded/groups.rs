//! Group commit: the writer takes everything that is queued, applies each batch inside one transaction (a batch that
//! conflicts is left out, the others stay), and answers all of them after one fsync. Under load many writers share a
//! sync; alone, a writer waits for no one.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use redb::{Database, ReadableTable};
use tokio::sync::oneshot;

use super::{RECORDS, failed};
use crate::batch::{Batch, Change, Version};
use crate::error::StoreError;
use crate::records::Pending;

/// Bounds how long the first writer of a group waits for the others' work.
const MAX_GROUP: usize = 1_024;

type Answer = oneshot::Sender<Result<(), StoreError>>;

pub struct Groups {
    queue: Option<mpsc::Sender<(Batch, Answer)>>,
    writer: Option<JoinHandle<()>>,
}

impl Groups {
    pub fn start(database: Arc<Database>, place: String) -> std::io::Result<Groups> {
        let (queue, waiting) = mpsc::channel();
        let writer = std::thread::Builder::new().name("store-writer".into());
        let writer = writer.spawn(move || write_groups(&database, &place, &waiting))?;
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
    /// Whatever was queued is written before the file is let go.
    fn drop(&mut self) {
        self.queue.take();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write_groups(database: &Database, place: &str, waiting: &mpsc::Receiver<(Batch, Answer)>) {
    while let Ok(first) = waiting.recv() {
        let group = std::iter::once(first).chain(waiting.try_iter().take(MAX_GROUP - 1));
        let (batches, answers): (Vec<_>, Vec<_>) = group.unzip();
        // Nothing to write: the groups before are on disk, which is all that an empty batch asks for.
        let written = if batches.iter().all(Batch::is_empty) {
            Ok(batches.iter().map(|_| Ok(())).collect())
        } else {
            write_group(database, &batches)
        };
        let results: Vec<_> = written.unwrap_or_else(|reason| {
            let error = failed("write", place, &reason);
            batches.iter().map(|_| Err(error.clone())).collect()
        });
        for (answer, result) in answers.into_iter().zip(results) {
            // The caller may have gone away; the write stands.
            let _ = answer.send(result);
        }
    }
}

fn write_group(database: &Database, batches: &[Batch]) -> Result<Vec<Result<(), StoreError>>, redb::Error> {
    let transaction = database.begin_write()?;
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
