//! The bytes of a record's file and of the last batch: a line of JSON that says what follows, and what follows.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::batch::Version;
use crate::error::StoreError;
use crate::records::Record;

#[derive(Serialize, Deserialize)]
struct RecordHead {
    key: String,
    version: Version,
    sha256: String,
}

pub fn write_record(record: &Record) -> Vec<u8> {
    let head = RecordHead { key: record.key.clone(), version: record.version, sha256: digest(&record.value) };
    with_head(&head, &record.value)
}

pub fn read_record(bytes: &[u8], place: &str) -> Result<Record, StoreError> {
    let (head, value): (RecordHead, _) = split_head(bytes, place)?;
    if digest(value) != head.sha256 {
        return Err(damaged(place, "its content does not match its checksum"));
    }
    Ok(Record { key: head.key, version: head.version, value: value.to_vec() })
}

/// The last batch, as what it left of each key.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Last {
    /// Counts batches.
    pub generation: u64,
    pub changes: Vec<Changed>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Changed {
    pub key: String,
    /// None: deleted.
    pub now: Option<Record>,
}

#[derive(Serialize, Deserialize)]
struct LastHead {
    generation: u64,
    sha256: String,
}

#[derive(Serialize, Deserialize)]
struct ChangeHead {
    key: String,
    /// 0: deleted.
    version: Version,
    bytes: usize,
}

pub fn write_last(last: &Last) -> Vec<u8> {
    let mut body = Vec::new();
    for change in &last.changes {
        let (version, value) =
            change.now.as_ref().map_or((0, &[][..]), |now| (now.version, now.value.as_slice()));
        body.extend(with_head(&ChangeHead { key: change.key.clone(), version, bytes: value.len() }, value));
    }
    with_head(&LastHead { generation: last.generation, sha256: digest(&body) }, &body)
}

pub fn read_last(bytes: &[u8], place: &str) -> Result<Last, StoreError> {
    let (head, mut rest): (LastHead, _) = split_head(bytes, place)?;
    if digest(rest) != head.sha256 {
        return Err(damaged(place, "its content does not match its checksum"));
    }
    let mut last = Last { generation: head.generation, changes: Vec::new() };
    while !rest.is_empty() {
        let (head, after): (ChangeHead, _) = split_head(rest, place)?;
        let (value, next) =
            after.split_at_checked(head.bytes).ok_or_else(|| damaged(place, "it is cut short"))?;
        rest = next;
        let key = head.key.clone();
        let now = (head.version > 0).then(|| Record {
            key: head.key,
            version: head.version,
            value: value.to_vec(),
        });
        last.changes.push(Changed { key, now });
    }
    Ok(last)
}

fn with_head(head: &impl Serialize, body: &[u8]) -> Vec<u8> {
    // Strings and numbers: nothing here can fail to be JSON.
    let mut bytes = serde_json::to_vec(head).unwrap_or_default();
    bytes.push(b'\n');
    bytes.extend_from_slice(body);
    bytes
}

fn split_head<'a, T: Deserialize<'a>>(bytes: &'a [u8], place: &str) -> Result<(T, &'a [u8]), StoreError> {
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| damaged(place, "it has no head"))?;
    let (head, body) = bytes.split_at(end);
    let head = serde_json::from_slice(head).map_err(|e| damaged(place, &format!("its head: {e}")))?;
    Ok((head, &body[1..]))
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn damaged(place: &str, reason: &str) -> StoreError {
    StoreError::Damaged { place: place.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_short_is_noticed_at_every_length() {
        let record = Record { key: "a/b".into(), version: 3, value: b"x\ny\0z".to_vec() };
        let last = Last {
            generation: 7,
            changes: vec![
                Changed { key: "a/b".into(), now: Some(record.clone()) },
                Changed { key: "c".into(), now: None },
            ],
        };
        let (one, all) = (write_record(&record), write_last(&last));
        assert_eq!(read_record(&one, "here").ok(), Some(record));
        assert_eq!(read_last(&all, "here").ok(), Some(last));
        assert!((0..one.len()).all(|length| read_record(&one[..length], "here").is_err()));
        assert!((0..all.len()).all(|length| read_last(&all[..length], "here").is_err()));
    }
}
