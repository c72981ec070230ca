//! A group of changes as the messages that carry it.

use async_nats::HeaderMap;
use bytes::Bytes;

use super::bucket::Bucket;
use super::entry::{GROUP, Group, OPERATION, VERSION, check_mark, key_to_name, writer_mark};
use super::merge::{Merged, Write};

/// Marks and deleted keys leave the stream after this; at every reconnection it is read from the start, so nobody needs
/// them for longer.
const FORGOTTEN_AFTER: &str = "24h";
const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
const EXPECTED_SUBJECT: &str = "Nats-Expected-Last-Subject-Sequence-Subject";

pub struct Message {
    pub subject: String,
    pub headers: HeaderMap,
    pub payload: Bytes,
}

/// The writer's mark, which replaces its mark number `mark`; what only checks a key; then the keys. A check comes before
/// the writes, as the server wants it.
pub fn messages(bucket: &Bucket, writer: &str, number: u64, mark: u64, merged: &Merged<'_>) -> Vec<Message> {
    let count = u32::try_from(merged.writes.len()).unwrap_or(u32::MAX);
    let expecting = |sequence: u64, place| {
        let mut headers = HeaderMap::new();
        headers.insert(EXPECTED, sequence.to_string());
        headers.insert(GROUP, Group { writer: writer.to_owned(), number, place, count }.header());
        headers
    };
    // Checked before: only keys that have a name get here.
    let subject_of = |key: &str| bucket.subject(&key_to_name(key).unwrap_or_default());
    let mut headers = expecting(mark, 0);
    headers.insert("Nats-TTL", FORGOTTEN_AFTER);
    let subject = bucket.subject(&writer_mark(writer));
    let mut messages = vec![Message { subject, headers, payload: Bytes::new() }];
    for (at, (key, sequence)) in merged.checks.iter().enumerate() {
        let mut headers = expecting(*sequence, 0);
        headers.insert(EXPECTED_SUBJECT, subject_of(key));
        headers.insert("Nats-TTL", FORGOTTEN_AFTER);
        let subject = bucket.subject(&check_mark(writer, at));
        messages.push(Message { subject, headers, payload: Bytes::new() });
    }
    for (place, (key, write)) in in_order(merged).enumerate() {
        let mut headers = expecting(write.expected, u32::try_from(place + 1).unwrap_or(u32::MAX));
        let payload = match write.value {
            Some(value) => {
                headers.insert(VERSION, write.version.to_string());
                Bytes::copy_from_slice(value)
            }
            None => {
                headers.insert(OPERATION, "DEL");
                headers.insert("Nats-TTL", FORGOTTEN_AFTER);
                Bytes::new()
            }
        };
        messages.push(Message { subject: subject_of(key), headers, payload });
    }
    messages
}

/// Deleted keys before written ones: a message that is forgotten after a while is seldom the stream's last.
pub fn in_order<'m, 'a>(merged: &'m Merged<'a>) -> impl Iterator<Item = (&'a str, &'m Write<'a>)> {
    let of =
        move |deleted: bool| merged.writes.iter().filter(move |(_, write)| write.value.is_none() == deleted);
    of(true).chain(of(false)).map(|(key, write)| (*key, write))
}
