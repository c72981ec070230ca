//! Asks the server which message of a key is the last.

use tokio::task::JoinSet;

use super::answer::Failure;
use super::bucket::{ANSWER_WITHIN, Bucket};
use super::entry::{Entry, key_to_name};
use super::index::{Index, Last};

const AT_ONCE: usize = 32;

pub async fn look_up(bucket: &Bucket, index: &Index, keys: &[String]) -> Result<(), Failure> {
    let mut answers = JoinSet::new();
    let mut left = keys.iter();
    loop {
        while answers.len() < AT_ONCE
            && let Some(key) = left.next()
        {
            let (bucket, key) = (bucket.clone(), key.clone());
            answers.spawn(async move {
                let last = last_of(&bucket, &key).await;
                (key, last)
            });
        }
        match answers.join_next().await {
            None => return Ok(()),
            Some(Err(e)) => return Err(Failure::Silent(e.to_string())),
            Some(Ok((key, last))) => index.set(&key, last?),
        }
    }
}

async fn last_of(bucket: &Bucket, key: &str) -> Result<Last, Failure> {
    let refused = |reason: String| Failure::Refused { code: 0, reason };
    let name = key_to_name(key).map_err(|e| refused(e.to_string()))?;
    let Some(stored) = bucket.last(&name, ANSWER_WITHIN).await? else {
        return Ok(Last { version: 0, sequence: 0 });
    };
    let entry = Entry::read(&name, stored.sequence, &stored.headers, stored.payload).map_err(refused)?;
    let version = entry.content.map_or(0, |content| content.version);
    Ok(Last { version, sequence: stored.sequence })
}
