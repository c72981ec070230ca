//! Follows the stream as long as the store is open, and tells every watch.
//!
//! After an interruption it reads the whole bucket again and tells what differs from what it told before, deleted keys
//! included. While it does, it counts as not caught up.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::bucket::Bucket;
use super::entry::{Content, Entry};
use super::index::Index;
use super::replay::{Replay, ReplayError, Step};
use crate::watch::{Changed, Changes};

const PAUSE: Duration = Duration::from_millis(100);
/// Until somebody may have put it right.
const LONG_PAUSE: Duration = Duration::from_secs(5);

/// How far the watches were told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Not known: it reads everything, or tries to.
    Beginning,
    /// Of which stream, up to which number.
    At { created: String, sequence: u64 },
    /// There is something in the bucket that eos did not write.
    Foreign(String),
}

pub struct Follower {
    pub progress: watch::Receiver<Progress>,
    watches: Watches,
    task: tokio::task::AbortHandle,
}

type Watches = Arc<Mutex<Vec<mpsc::UnboundedSender<Changes>>>>;

impl Drop for Follower {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Follower {
    pub fn start(
        runtime: &tokio::runtime::Handle,
        bucket: Bucket,
        index: Arc<Index>,
        writer: String,
    ) -> Follower {
        let watches = Watches::default();
        let (told, progress) = watch::channel(Progress::Beginning);
        let mut work =
            Work { bucket, index, writer, watches: Arc::clone(&watches), told, known: HashMap::new() };
        let task = runtime.spawn(async move { work.run().await }).abort_handle();
        Follower { progress, watches, task }
    }

    /// Everything told from now on.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<Changes> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }
}

struct Work {
    bucket: Bucket,
    index: Arc<Index>,
    writer: String,
    watches: Watches,
    told: watch::Sender<Progress>,
    /// What the watches were told of: key, number of the message.
    known: HashMap<String, u64>,
}

impl Work {
    async fn run(&mut self) {
        loop {
            // Whatever ended it, the next round begins with everything; nobody counts as caught up until then.
            let (progress, pause) = match self.follow().await {
                Err(ReplayError::Foreign(reason)) => (Progress::Foreign(reason), LONG_PAUSE),
                Ok(()) | Err(ReplayError::Failed(_)) => (Progress::Beginning, PAUSE),
            };
            self.told.send_replace(progress);
            tokio::time::sleep(pause).await;
        }
    }

    async fn follow(&mut self) -> Result<(), ReplayError> {
        let mut replay = Replay::open(&self.bucket).await?;
        let created = replay.created().to_owned();
        let first = replay.next().await?;
        let gone = self.gone(&first);
        self.tell(&created, first, gone);
        loop {
            let step = replay.next().await?;
            self.tell(&created, step, Vec::new());
        }
    }

    /// Keys that were told of and that a reading of everything no longer has.
    fn gone(&mut self, first: &Step) -> Vec<Changed> {
        let there: HashSet<&str> = first.entries.iter().filter_map(key_of).collect();
        let gone: Vec<String> =
            self.known.keys().filter(|key| !there.contains(key.as_str())).cloned().collect();
        gone.into_iter()
            .map(|key| {
                self.known.remove(&key);
                self.index.forget(&key);
                Changed { key, version: 0, value: None, own: false, sequence: first.sequence }
            })
            .collect()
    }

    fn tell(&mut self, created: &str, step: Step, mut changes: Vec<Changed>) {
        for entry in step.entries {
            let own = entry.group.as_ref().is_some_and(|group| group.writer == self.writer);
            let Some(Content { key, version, value }) = entry.content else { continue };
            self.index.learn(&key, version, entry.sequence);
            let before = match &value {
                Some(_) => self.known.insert(key.clone(), entry.sequence),
                None => self.known.remove(&key),
            };
            // Told before the interruption. A deletion is always told: a watch may know the key from its start.
            if before == Some(entry.sequence) {
                continue;
            }
            let value = value.map(|value| value.to_vec());
            changes.push(Changed { key, version, value, own, sequence: entry.sequence });
        }
        let changes = Changes { sequence: step.sequence, changes };
        self.watches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|watch| watch.send(changes.clone()).is_ok());
        self.told.send_replace(Progress::At { created: created.to_owned(), sequence: step.sequence });
    }
}

fn key_of(entry: &Entry) -> Option<&str> {
    entry.content.as_ref().filter(|content| content.value.is_some()).map(|content| content.key.as_str())
}
