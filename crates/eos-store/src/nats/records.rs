//! Records on one JetStream stream, shared by every process that opens the same bucket.
//!
//! A key is a subject, a record the subject's last message. One stream, because only within one can the server write
//! several messages whole or not at all.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::answer::{Failure, StreamInfo};
use super::bucket::{ANSWER_WITHIN, Bucket};
use super::connection::Nats;
use super::entry::{Entry, key_to_name};
use super::follower::{Follower, Progress};
use super::index::Index;
use super::replay::{Replay, ReplayError, Step};
use super::writer::{LARGEST_BATCH, Queued, Writer, largest_value};
use crate::batch::Batch;
use crate::error::StoreError;
use crate::records::{LargestBatch, Pending, Record, Records};
use crate::watch::Watch;

#[derive(Debug, Clone)]
pub struct NatsSettings {
    /// Copies in a cluster, for a bucket that is made now.
    pub replicas: usize,
    /// How long a write waits for a server that is away before it fails.
    pub patience: Duration,
}

impl Default for NatsSettings {
    fn default() -> Self {
        NatsSettings { replicas: 1, patience: Duration::from_secs(10) }
    }
}

type Asked = oneshot::Sender<Result<StreamInfo, Failure>>;

pub struct NatsRecords {
    bucket: Bucket,
    index: Arc<Index>,
    writer: String,
    runtime: tokio::runtime::Handle,
    queue: Option<mpsc::UnboundedSender<Queued>>,
    written: Mutex<std::sync::mpsc::Receiver<()>>,
    asking: mpsc::UnboundedSender<Asked>,
    /// Started by the first who wants to follow.
    follower: Mutex<Option<Arc<Follower>>>,
}

impl NatsRecords {
    /// Makes the bucket if it is not there.
    pub fn open(nats: &Nats, bucket: &str, settings: &NatsSettings) -> Result<NatsRecords, StoreError> {
        let opening = {
            let (nats, name, replicas) = (nats.clone(), bucket.to_owned(), settings.replicas);
            async move { Bucket::open(&nats, &name, replicas).await }
        };
        let bucket = nats.run(opening)?;
        let runtime = nats.handle().ok_or(StoreError::Closed)?.clone();
        let index = Arc::new(Index::default());
        let name = crate::random_id();
        let (queue, waiting) = mpsc::unbounded_channel();
        let writer = Writer {
            bucket: bucket.clone(),
            index: Arc::clone(&index),
            name: name.clone(),
            patience: settings.patience,
            queue: waiting,
            number: 0,
            mark: 0,
        };
        let (done, written) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            writer.run().await;
            let _ = done.send(());
        });
        let (asking, asked) = mpsc::unbounded_channel();
        runtime.spawn(answer_together(bucket.clone(), asked));
        let (queue, written) = (Some(queue), Mutex::new(written));
        Ok(NatsRecords {
            bucket,
            index,
            writer: name,
            runtime,
            queue,
            written,
            asking,
            follower: Mutex::default(),
        })
    }

    /// Whether there is such a bucket; none is made.
    pub fn exists(nats: &Nats, bucket: &str) -> Result<bool, StoreError> {
        let (inner, name) = (nats.clone(), bucket.to_owned());
        nats.run(async move { Bucket::exists(&inner, &name).await })
    }

    fn follower(&self) -> Arc<Follower> {
        let mut follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let (bucket, index) = (self.bucket.clone(), Arc::clone(&self.index));
            Arc::new(Follower::start(&self.runtime, bucket, index, self.writer.clone()))
        };
        Arc::clone(follower.get_or_insert_with(start))
    }

    fn read_all(&self) -> Result<(Vec<Record>, u64), StoreError> {
        let bucket = self.bucket.clone();
        self.bucket.nats.run(async move { read_all(&bucket).await })
    }

    fn answer_later<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Pending<T> {
        let (answer, pending) = oneshot::channel();
        self.runtime.spawn(async move {
            let _ = answer.send(work.await);
        });
        Pending::new(pending)
    }
}

impl Drop for NatsRecords {
    /// Whatever was queued is written, or has failed, before the store is let go.
    fn drop(&mut self) {
        self.queue.take();
        let _ = self.written.get_mut().unwrap_or_else(PoisonError::into_inner).recv();
    }
}

impl Records for NatsRecords {
    fn largest_batch(&self) -> Option<LargestBatch> {
        Some(LargestBatch { changes: LARGEST_BATCH, bytes: largest_value(&self.bucket) })
    }

    fn all(&self) -> Result<Vec<Record>, StoreError> {
        self.read_all().map(|(records, _)| records)
    }

    fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        let (bucket, key) = (self.bucket.clone(), key.to_owned());
        self.bucket.nats.run(async move {
            let name = key_to_name(&key)?;
            let stored = bucket.last(&name, ANSWER_WITHIN).await.map_err(|e| bucket.failed("read", e))?;
            let Some(stored) = stored else { return Ok(None) };
            Entry::read(&name, stored.sequence, &stored.headers, stored.payload)
                .map(record_of)
                .map_err(|reason| StoreError::Damaged { place: bucket.place(), reason })
        })
    }

    fn submit(&self, batch: Batch) -> Pending {
        let (answer, pending) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A writer that is gone drops the answer, which the receiver reads as `Closed`.
            let _ = queue.send((batch, answer));
        }
        Pending::new(pending)
    }

    fn watch(&self) -> Result<Option<Watch>, StoreError> {
        // First subscribed, then read: whatever happens in between is in both, and left out of one.
        let changes = self.follower().subscribe();
        let (start, sequence) = self.read_all()?;
        Ok(Some(Watch { start, sequence, changes }))
    }

    fn last_sequence(&self) -> Pending<u64> {
        let (asking, bucket) = (self.asking.clone(), self.bucket.clone());
        self.answer_later(async move { Ok(ask(&asking, &bucket).await?.state.last_seq) })
    }

    fn caught_up(&self, within: Duration) -> Pending<u64> {
        let (asking, bucket) = (self.asking.clone(), self.bucket.clone());
        let follower = self.follower();
        self.answer_later(async move {
            let reaching = async {
                let info = ask(&asking, &bucket).await?;
                let mut progress = follower.progress.clone();
                let reached = progress.wait_for(|progress| match progress {
                    Progress::Beginning => false,
                    Progress::At { created, sequence } => {
                        *created == info.created && *sequence >= info.state.last_seq
                    }
                    Progress::Foreign(_) => true,
                });
                if let Progress::Foreign(reason) = &*reached.await.map_err(|_| StoreError::Closed)? {
                    return Err(StoreError::Damaged { place: bucket.place(), reason: reason.clone() });
                }
                Ok(info.state.last_seq)
            };
            tokio::time::timeout(within, reaching).await.unwrap_or_else(|_| {
                let reason = format!("not caught up within {within:?}");
                Err(StoreError::Unreachable { operation: "read", place: bucket.place(), reason })
            })
        })
    }
}

async fn ask(asking: &mpsc::UnboundedSender<Asked>, bucket: &Bucket) -> Result<StreamInfo, StoreError> {
    let (answer, answered) = oneshot::channel();
    asking.send(answer).map_err(|_| StoreError::Closed)?;
    answered.await.map_err(|_| StoreError::Closed)?.map_err(|failure| bucket.failed("read", failure))
}

/// One question to the server for all who wait. Whoever asks while it is under way is answered by the next: an answer
/// is never older than the question.
async fn answer_together(bucket: Bucket, mut asked: mpsc::UnboundedReceiver<Asked>) {
    while let Some(first) = asked.recv().await {
        let mut all = vec![first];
        while let Ok(next) = asked.try_recv() {
            all.push(next);
        }
        let answer = bucket.info().await;
        for one in all {
            let _ = one.send(answer.clone());
        }
    }
}

async fn read_all(bucket: &Bucket) -> Result<(Vec<Record>, u64), StoreError> {
    let failed = |error| match error {
        ReplayError::Failed(failure) => bucket.failed("read", failure),
        ReplayError::Foreign(reason) => StoreError::Damaged { place: bucket.place(), reason },
    };
    let mut replay = Replay::open(bucket).await.map_err(|e| failed(e.into()))?;
    let first = replay.next().await;
    replay.close().await;
    let Step { sequence, entries } = first.map_err(failed)?;
    // A key written again while the stream was read is there twice; the later one counts.
    let mut records = std::collections::BTreeMap::new();
    for entry in entries {
        let Some(content) = &entry.content else { continue };
        let key = content.key.clone();
        match record_of(entry) {
            Some(record) => records.insert(key, record),
            None => records.remove(&key),
        };
    }
    Ok((records.into_values().collect(), sequence))
}

fn record_of(entry: Entry) -> Option<Record> {
    let content = entry.content?;
    let value = content.value?;
    Some(Record { key: content.key, version: content.version, value: value.to_vec() })
}
