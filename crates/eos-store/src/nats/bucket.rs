//! A stream that keeps the last message of each subject, named as NATS' key-value buckets are, so that NATS' own
//! tools can show it. Reads and checked writes ask the stream's leader, never a copy that may lag.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::jetstream::{self, stream};
use async_nats::{HeaderMap, Request, RequestErrorKind, StatusCode};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::answer::{Failure, Published, StreamInfo, read_answer};
use super::connection::Nats;
use crate::error::StoreError;

const FORMAT: u64 = 1;
const FORMAT_NAME: &str = "eos.format";
/// One answer of a server that is there.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(5);
const STREAM_NOT_FOUND: u64 = 10_059;

#[derive(Clone)]
pub struct Bucket {
    pub nats: Nats,
    pub name: String,
}

/// A message as the stream has it.
pub struct Stored {
    pub sequence: u64,
    pub headers: HeaderMap,
    pub payload: Bytes,
    /// By the server's clock, in nanoseconds since 1970.
    pub written: i128,
}

impl Bucket {
    /// Makes the bucket if it is not there, with that many copies in a cluster; refuses one that a newer program, or something else, made.
    pub async fn open(nats: &Nats, name: &str, replicas: usize) -> Result<Bucket, StoreError> {
        let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.is_empty() || !name.bytes().all(valid) {
            let reason = "a bucket's name has letters, digits, - and _".to_owned();
            return Err(StoreError::Io { operation: "open", place: name.to_owned(), reason });
        }
        let bucket = Bucket { nats: nats.clone(), name: name.to_owned() };
        let info = match bucket.info().await {
            Err(Failure::Refused { code: STREAM_NOT_FOUND, .. }) => {
                bucket.create(replicas).await?;
                bucket.info().await
            }
            info => info,
        };
        bucket.check(&info.map_err(|failure| bucket.failed("open", failure))?)?;
        Ok(bucket)
    }

    pub async fn exists(nats: &Nats, name: &str) -> Result<bool, StoreError> {
        let bucket = Bucket { nats: nats.clone(), name: name.to_owned() };
        match bucket.info().await {
            Ok(_) => Ok(true),
            Err(Failure::Refused { code: STREAM_NOT_FOUND, .. }) => Ok(false),
            Err(failure) => Err(bucket.failed("look for", failure)),
        }
    }

    pub fn stream_name(&self) -> String {
        format!("KV_{}", self.name)
    }

    pub fn subject(&self, key: &str) -> String {
        format!("$KV.{}.{key}", self.name)
    }

    /// Where it is, for messages.
    pub fn place(&self) -> String {
        format!("{}, bucket {}", self.nats.place(), self.name)
    }

    pub fn context(&self) -> jetstream::Context {
        let mut context = jetstream::new(self.nats.client().clone());
        context.set_timeout(ANSWER_WITHIN);
        context
    }

    async fn create(&self, replicas: usize) -> Result<(), StoreError> {
        let config = Config {
            name: self.stream_name(),
            subjects: vec![self.subject(">")],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            storage: StorageType::File,
            num_replicas: replicas,
            allow_rollup: true,
            allow_direct: true,
            deny_delete: true,
            allow_message_ttl: true,
            allow_atomic_publish: true,
            metadata: HashMap::from([(FORMAT_NAME.to_owned(), FORMAT.to_string())]),
            ..Config::default()
        };
        // Two that make it at once make the same one.
        let made = self.context().get_or_create_stream(config).await;
        made.map(drop).map_err(|e| self.failed("make", Failure::Refused { code: 0, reason: e.to_string() }))
    }

    fn check(&self, info: &StreamInfo) -> Result<(), StoreError> {
        let foreign = |reason: &str| StoreError::Io {
            operation: "open",
            place: self.place(),
            reason: reason.to_owned(),
        };
        let format = info.config.metadata.get(FORMAT_NAME);
        let Some(found) = format.and_then(|format| format.parse::<u64>().ok()) else {
            return Err(foreign("something else made this bucket: name another"));
        };
        if found > FORMAT {
            return Err(StoreError::NewerFormat { place: self.place(), found, known: FORMAT });
        }
        if !(info.config.allow_atomic && info.config.allow_msg_ttl) {
            return Err(foreign("somebody changed its settings: allow_atomic and allow_msg_ttl must be on"));
        }
        Ok(())
    }

    pub async fn info(&self) -> Result<StreamInfo, Failure> {
        self.ask(self.info_subject(), HeaderMap::new(), Bytes::new(), ANSWER_WITHIN).await
    }

    fn info_subject(&self) -> String {
        format!("$JS.API.STREAM.INFO.{}", self.stream_name())
    }

    /// Every key that has a message; for buckets of a few (the server lists up to 100,000).
    pub async fn keys(&self) -> Result<Vec<String>, Failure> {
        let filter = Bytes::from_static(br#"{"subjects_filter":">"}"#);
        let info: StreamInfo = self.ask(self.info_subject(), HeaderMap::new(), filter, ANSWER_WITHIN).await?;
        let prefix = self.subject("");
        Ok(info.state.subjects.keys().filter_map(|s| s.strip_prefix(&prefix)).map(str::to_owned).collect())
    }

    /// The last message of a key's subject, from the leader.
    pub async fn last(&self, key: &str, within: Duration) -> Result<Option<Stored>, Failure> {
        if !self.nats.is_connected() {
            return Err(Failure::Silent("not connected".to_owned()));
        }
        let context = self.context();
        let asking = async {
            let stream = context.get_stream_no_info(self.stream_name()).await.map_err(|e| e.to_string())?;
            match stream.get_last_raw_message_by_subject(&self.subject(key)).await {
                Ok(message) => Ok(Some(Stored {
                    sequence: message.sequence,
                    headers: message.headers,
                    payload: message.payload,
                    written: message.time.unix_timestamp_nanos(),
                })),
                Err(e) if e.kind() == stream::LastRawMessageErrorKind::NoMessageFound => Ok(None),
                Err(e) => Err(e.to_string()),
            }
        };
        match tokio::time::timeout(within, asking).await {
            Ok(answer) => answer.map_err(Failure::Silent),
            Err(_) => Err(Failure::Silent("no answer in time".to_owned())),
        }
    }

    /// Writes one key whose last message must be number `expected` (0: none).
    pub async fn publish(
        &self,
        key: &str,
        expected: u64,
        payload: Bytes,
        within: Duration,
    ) -> Result<Published, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Expected-Last-Subject-Sequence", expected.to_string());
        self.ask(self.subject(key), headers, payload, within).await
    }

    /// One request to JetStream.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
        within: Duration,
    ) -> Result<T, Failure> {
        // The client would keep it and send it when the server is back, long after we gave up.
        if !self.nats.is_connected() {
            return Err(Failure::Silent("not connected".to_owned()));
        }
        let request = Request::new().headers(headers).payload(payload).timeout(Some(within));
        let mut connections = self.nats.connections();
        connections.mark_unchanged();
        let answer = tokio::select! {
            answer = self.nats.client().send_request(subject, request) => answer,
            // The server that had the question is gone, and its answer with it.
            _ = connections.changed() => return Err(Failure::Silent("the connection was lost meanwhile".to_owned())),
        };
        let answer = answer.map_err(|e| match e.kind() {
            RequestErrorKind::TimedOut => Failure::Silent("no answer in time".to_owned()),
            RequestErrorKind::NoResponders => {
                Failure::Silent("JetStream does not answer: is it on (nats-server -js)?".to_owned())
            }
            RequestErrorKind::MaxPayloadExceeded | RequestErrorKind::InvalidSubject => {
                Failure::Refused { code: 0, reason: e.to_string() }
            }
            _ => Failure::Silent(e.to_string()),
        })?;
        if answer.status.is_some_and(|status| status != StatusCode::OK) {
            return Err(Failure::Silent(format!("an unexpected answer: {:?}", answer.description)));
        }
        read_answer(&answer.payload)
    }

    pub fn failed(&self, operation: &'static str, failure: Failure) -> StoreError {
        match failure {
            Failure::Silent(reason) => StoreError::Unreachable { operation, place: self.place(), reason },
            other => StoreError::Io { operation, place: self.place(), reason: other.reason() },
        }
    }
}
