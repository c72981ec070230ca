//! A message of the stream: one key as one group of changes left it, or a mark that only a writer needs.

use async_nats::HeaderMap;
use bytes::Bytes;

use crate::batch::Version;
use crate::error::StoreError;
use crate::key_name;

/// How often the key was written since it exists.
pub const VERSION: &str = "Eos-Version";
/// Writer, number of the group, place in it, count: see [`Group`].
pub const GROUP: &str = "Eos-Group";
/// NATS' own word for a deleted key.
pub const OPERATION: &str = "KV-Operation";
/// No key's name begins like this.
const MARK_PREFIX: &str = "==";

/// Which group a message belongs to. A group is written whole or not at all; of the messages of keys it has
/// `count`, and this is number `place`. Marks have place 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub writer: String,
    pub number: u64,
    pub place: u32,
    pub count: u32,
}

impl Group {
    pub fn header(&self) -> String {
        format!("{} {} {} {}", self.writer, self.number, self.place, self.count)
    }

    pub fn read(headers: &HeaderMap) -> Option<Group> {
        let mut words = headers.get(GROUP)?.as_str().split(' ');
        Some(Group {
            writer: words.next()?.to_owned(),
            number: words.next()?.parse().ok()?,
            place: words.next()?.parse().ok()?,
            count: words.next()?.parse().ok()?,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub sequence: u64,
    /// None: a key that somebody deleted with NATS' own tools.
    pub group: Option<Group>,
    /// None: a mark.
    pub content: Option<Content>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub key: String,
    /// 0: deleted.
    pub version: Version,
    pub value: Option<Bytes>,
}

/// `account/node/kind/id` becomes `account.node.kind.id`.
pub fn key_to_name(key: &str) -> Result<String, StoreError> {
    key_name::encode_path(key).map_err(|reason| StoreError::BadKey { key: key.to_owned(), reason })
}

pub fn writer_mark(writer: &str) -> String {
    format!("{MARK_PREFIX}writer.{writer}")
}

pub fn check_mark(writer: &str, number: usize) -> String {
    format!("{MARK_PREFIX}check.{writer}.{number}")
}

impl Entry {
    /// `name`: the subject without the bucket's prefix. The error is a reason for a person.
    pub fn read(name: &str, sequence: u64, headers: &HeaderMap, payload: Bytes) -> Result<Entry, String> {
        let group = Group::read(headers);
        if name.starts_with(MARK_PREFIX) {
            return Ok(Entry { sequence, group, content: None });
        }
        let foreign = || format!("message {sequence} ({name}) was not written by eos");
        let key = key_name::decode_path(name).ok_or_else(foreign)?;
        if headers.get(OPERATION).is_some() {
            return Ok(Entry { sequence, group, content: Some(Content { key, version: 0, value: None }) });
        }
        let version = headers.get(VERSION).and_then(|version| version.as_str().parse().ok());
        let version = version.filter(|_| group.is_some()).ok_or_else(foreign)?;
        Ok(Entry { sequence, group, content: Some(Content { key, version, value: Some(payload) }) })
    }
}
