//! A bucket as a series of states that existed: first all of it, then each change.

use std::time::Duration;

use super::answer::Failure;
use super::bucket::Bucket;
use super::entry::Entry;
use super::feed::{Delivered, Feed};
use super::groups::Groups;

const STUCK: Duration = Duration::from_secs(20);

pub struct Replay {
    bucket: Bucket,
    feed: Feed,
    groups: Groups,
    /// The first state was given out, or all it waits for is named.
    passed_start: bool,
}

/// What leads from the state before to this one.
pub struct Step {
    pub sequence: u64,
    pub entries: Vec<Entry>,
}

/// Reading must not go on: what is there is not ours to understand.
pub enum ReplayError {
    Failed(Failure),
    Foreign(String),
}

impl From<Failure> for ReplayError {
    fn from(failure: Failure) -> Self {
        ReplayError::Failed(failure)
    }
}

impl Replay {
    pub async fn open(bucket: &Bucket) -> Result<Replay, Failure> {
        let feed = Feed::open(bucket).await?;
        Ok(Replay { bucket: bucket.clone(), feed, groups: Groups::default(), passed_start: false })
    }

    /// Which stream this is: one made anew under the same name counts from 1 again.
    pub fn created(&self) -> &str {
        &self.feed.created
    }

    pub async fn next(&mut self) -> Result<Step, ReplayError> {
        let start = self.feed.last_before;
        if !self.passed_start && self.feed.empty {
            self.passed_start = true;
            return Ok(Step { sequence: start, entries: Vec::new() });
        }
        loop {
            let message = self.next_message().await?;
            let (sequence, pending) = (message.sequence, message.pending);
            let entry = Entry::read(&message.name, sequence, &message.headers, message.payload);
            self.groups.push(entry.map_err(ReplayError::Foreign)?);
            if self.passed_start {
                if self.groups.has_hole() {
                    self.groups.hold(self.bucket.info().await?.state.last_seq);
                }
            } else if sequence >= start || pending == 0 {
                // Keys may have been written again while the beginning was read; their messages come before this.
                let last = self.bucket.info().await?.state.last_seq;
                self.passed_start = true;
                if pending == 0 && last <= start.max(sequence) {
                    let entries = self.groups.take();
                    return Ok(Step { sequence: start.max(sequence), entries });
                }
                self.groups.hold(last);
            } else {
                continue;
            }
            if let Some((sequence, entries)) = self.groups.ready() {
                return Ok(Step { sequence, entries });
            }
        }
    }

    /// While the beginning is read there is always more to come; if it does not, it went away before it was sent.
    async fn next_message(&mut self) -> Result<Delivered, Failure> {
        if self.passed_start {
            return self.feed.next().await;
        }
        match tokio::time::timeout(STUCK, self.feed.next()).await {
            Ok(next) => next,
            Err(_) => Err(Failure::Silent("the server stopped sending".to_owned())),
        }
    }

    pub async fn close(self) {
        self.feed.close().await;
    }
}
