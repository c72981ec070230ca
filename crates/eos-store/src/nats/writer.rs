//! Writes batches, as many as wait, in one group that the server takes whole or not at all.
//!
//! Each group begins with a mark of this writer, which names the group and must replace the mark of the one before.
//! So a group that is sent twice, because an answer was lost, counts once: the second copy finds the mark replaced. And
//! the mark tells, once the server is back, whether the lost answer was a yes.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::answer::{Failure, Published};
use super::bucket::{ANSWER_WITHIN, Bucket};
use super::entry::{Group, key_to_name, writer_mark};
use super::index::Index;
use super::look_up::look_up;
use super::merge::{Merged, merge};
use super::message::{in_order, messages};
use crate::batch::Batch;
use crate::error::StoreError;

pub type Queued = (Batch, oneshot::Sender<Result<(), StoreError>>);

/// A server takes 1,000 messages in one piece; the mark is one of them.
pub(super) const LARGEST_BATCH: usize = 999;

/// What the server takes, without the headers, which count too.
pub(super) fn largest_value(bucket: &Bucket) -> usize {
    bucket.nats.client().server_info().max_payload.saturating_sub(2_048)
}
/// Beyond this, batches that wait go into the next group.
const FULL_GROUP: usize = 400;
/// One copy of a group is answered within this, or sent again.
const ATTEMPT: Duration = Duration::from_secs(3);
/// Between two attempts while the server is away.
const PAUSE: Duration = Duration::from_millis(20);

pub struct Writer {
    pub bucket: Bucket,
    pub index: Arc<Index>,
    /// The name of this writer, used by nobody before.
    pub name: String,
    /// How long a write may take, the server's absence included.
    pub patience: Duration,
    pub queue: mpsc::UnboundedReceiver<Queued>,
    pub number: u64,
    /// The number of our last mark.
    pub mark: u64,
}

type Refused = Option<StoreError>;

impl Writer {
    /// Until the queue is closed and empty.
    pub async fn run(mut self) {
        while let Some(first) = self.queue.recv().await {
            let mut size = first.0.changes.len();
            let mut group = vec![first];
            while size < FULL_GROUP
                && let Ok(next) = self.queue.try_recv()
            {
                size += next.0.changes.len();
                group.push(next);
            }
            // A batch that would overflow the group is the last of it; together they must still fit.
            let spill = if size > LARGEST_BATCH && group.len() > 1 { group.pop() } else { None };
            self.write(group).await;
            if let Some(spill) = spill {
                self.write(vec![spill]).await;
            }
        }
    }

    async fn write(&mut self, group: Vec<Queued>) {
        let (batches, answers): (Vec<Batch>, Vec<_>) = group.into_iter().unzip();
        let results = self.results(&batches).await;
        for (answer, result) in answers.into_iter().zip(results) {
            // The caller may have gone away; the write stands.
            let _ = answer.send(result);
        }
    }

    async fn results(&mut self, batches: &[Batch]) -> Vec<Result<(), StoreError>> {
        let mut unfit: Vec<_> = batches.iter().map(|batch| self.unfit(batch)).collect();
        let fit: Vec<&Batch> =
            batches.iter().zip(&unfit).filter(|(_, unfit)| unfit.is_none()).map(|(batch, _)| batch).collect();
        let mut unanswered = Vec::new();
        let mut results = match self.commit(&fit, &mut unanswered).await {
            Ok(refused) => refused,
            Err(error) => {
                // A copy that nobody answered may be in, whatever ended the attempts after it.
                let unknown =
                    || StoreError::Unknown { place: self.bucket.place(), reason: error.to_string() };
                let error = if unanswered.is_empty() { error } else { unknown() };
                fit.iter().map(|_| Some(error.clone())).collect()
            }
        }
        .into_iter();
        let each = unfit.iter_mut().map(|unfit| unfit.take().or_else(|| results.next().flatten()));
        each.map(|refused| refused.map_or(Ok(()), Err)).collect()
    }

    fn unfit(&self, batch: &Batch) -> Option<StoreError> {
        let too_large = |reason| StoreError::TooLarge { place: self.bucket.place(), reason };
        if batch.changes.len() > LARGEST_BATCH {
            let count = batch.changes.len();
            return Some(too_large(format!("{count} changes; NATS takes {LARGEST_BATCH} in one piece")));
        }
        let room = largest_value(&self.bucket);
        batch.changes.iter().find_map(|(key, _, change)| match (key_to_name(key), change) {
            (Err(error), _) => Some(error),
            (Ok(_), crate::batch::Change::Put(value)) if value.len() > room => {
                Some(too_large(format!("{key} has {} bytes; this server takes {room}", value.len())))
            }
            _ => None,
        })
    }

    /// For each batch why it was refused, if it was. `unanswered` gets each group of which a copy was sent that nobody
    /// answered.
    async fn commit(
        &mut self,
        batches: &[&Batch],
        unanswered: &mut Vec<(u64, Vec<Refused>)>,
    ) -> Result<Vec<Refused>, StoreError> {
        let deadline = Instant::now() + self.patience;
        // Keys that the server was asked about since the last refusal.
        let mut asked: HashSet<String> = HashSet::new();
        loop {
            let merged = merge(batches, |key| self.index.get(key));
            let disputed: Vec<String> = merged.disputed.iter().map(ToString::to_string).collect();
            if disputed.iter().any(|key| !asked.contains(key)) {
                self.ask(&disputed, deadline).await?;
                asked.extend(disputed);
                continue;
            }
            if merged.writes.is_empty() && merged.checks.is_empty() {
                return Ok(merged.refused);
            }
            self.number += 1;
            if self.deliver(&merged, unanswered, deadline).await? {
                return Ok(merged.refused);
            }
            // Somebody wrote one of the keys, or a copy without an answer got through after all. The mark is looked at
            // after the keys: if they show that copy, the mark does too.
            let keys: Vec<String> =
                merged.writes.keys().chain(merged.checks.keys()).map(ToString::to_string).collect();
            self.ask(&keys, deadline).await?;
            if let Some(number) = self.find_mark(deadline).await?
                && let Some((_, refused)) =
                    unanswered.iter().position(|(n, _)| *n == number).map(|at| unanswered.swap_remove(at))
            {
                return Ok(refused);
            }
            if Instant::now() >= deadline {
                return Err(self.bucket.failed("write", Failure::Conflict));
            }
            asked = keys.into_iter().collect();
        }
    }

    /// Sends the group until the server answers: taken, or refused because something changed (false).
    async fn deliver(
        &mut self,
        merged: &Merged<'_>,
        unanswered: &mut Vec<(u64, Vec<Refused>)>,
        deadline: Instant,
    ) -> Result<bool, StoreError> {
        loop {
            let connected = self.bucket.nats.is_connected();
            let sent = if connected { self.send(merged).await } else { Err(not_connected()) };
            let reason = match sent {
                Ok(()) => return Ok(true),
                Err(Failure::Conflict) => return Ok(false),
                Err(Failure::Silent(reason)) => reason,
                Err(refused @ Failure::Refused { .. }) => return Err(self.bucket.failed("write", refused)),
            };
            if connected && unanswered.last().is_none_or(|(number, _)| *number != self.number) {
                unanswered.push((self.number, merged.refused.clone()));
            }
            if Instant::now() >= deadline {
                return Err(self.bucket.failed("write", Failure::Silent(reason)));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Which of our groups was the last to get in.
    async fn find_mark(&mut self, deadline: Instant) -> Result<Option<u64>, StoreError> {
        loop {
            match self.bucket.last(&writer_mark(&self.name), ANSWER_WITHIN).await {
                Ok(mark) => {
                    self.mark = mark.as_ref().map_or(0, |mark| mark.sequence);
                    return Ok(mark.and_then(|mark| Group::read(&mark.headers)).map(|group| group.number));
                }
                Err(failure) => self.pause(failure, deadline).await?,
            }
        }
    }

    async fn pause(&self, failure: Failure, deadline: Instant) -> Result<(), StoreError> {
        if !matches!(failure, Failure::Silent(_)) || Instant::now() >= deadline {
            return Err(self.bucket.failed("write", failure));
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }

    async fn ask(&self, keys: &[String], deadline: Instant) -> Result<(), StoreError> {
        while let Err(failure) = look_up(&self.bucket, &self.index, keys).await {
            self.pause(failure, deadline).await?;
        }
        Ok(())
    }

    async fn send(&mut self, merged: &Merged<'_>) -> Result<(), Failure> {
        let mut messages = messages(&self.bucket, &self.name, self.number, self.mark, merged);
        // Never the same twice: the server must not add a second copy to the rest of a first.
        let id = crate::random_id();
        for (place, message) in messages.iter_mut().enumerate() {
            message.headers.insert("Nats-Batch-Id", id.as_str());
            message.headers.insert("Nats-Batch-Sequence", (place + 1).to_string());
        }
        let Some(mut last) = messages.pop() else { return Ok(()) };
        last.headers.insert("Nats-Batch-Commit", "1");
        let count = messages.len() as u64 + 1;
        for message in messages {
            let sent = self.bucket.nats.client().publish_with_headers(
                message.subject,
                message.headers,
                message.payload,
            );
            sent.await.map_err(|e| Failure::Silent(e.to_string()))?;
        }
        let published: Published = self
            .bucket
            .ask(last.subject, last.headers, last.payload, ATTEMPT)
            .await
            .map_err(unless_broken)?;
        // A group's messages have numbers without gaps; the mark is the first.
        self.mark = published.seq + 1 - count;
        self.learn(merged);
        Ok(())
    }

    /// The group is in, and our mark is its first message.
    fn learn(&self, merged: &Merged<'_>) {
        let first = self.mark + 1 + merged.checks.len() as u64;
        for (sequence, (key, write)) in (first..).zip(in_order(merged)) {
            self.index.learn(key, write.version, sequence);
        }
    }
}

fn not_connected() -> Failure {
    Failure::Silent("not connected".to_owned())
}

/// A group of which a part got lost on the way was not written: the same as no answer.
fn unless_broken(failure: Failure) -> Failure {
    const INCOMPLETE: u64 = 10_176;
    const TOO_MANY_OPEN: u64 = 10_210;
    match failure {
        Failure::Refused { code: INCOMPLETE | TOO_MANY_OPEN, reason } => Failure::Silent(reason),
        other => other,
    }
}
