//! The messages of a bucket from the first to the last, and then as they come.
//!
//! Any doubt ends it: a number that is not the next one, silence beyond the heartbeat, a connection made anew. Whoever
//! reads then begins again, which is always right, and cheap because the stream keeps only what is current.

use std::time::Duration;

use async_nats::jetstream::consumer::{self, AckPolicy, DeliverPolicy, ReplayPolicy, push};
use async_nats::jetstream::{self, Context};
use async_nats::{HeaderMap, Message, Subscriber};
use bytes::Bytes;
use tokio::sync::watch;
use tokio_stream::StreamExt;

use super::answer::Failure;
use super::bucket::Bucket;

const HEARTBEAT: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_millis(3_500);
const STALLED: &str = "Nats-Consumer-Stalled";

pub struct Feed {
    bucket: Bucket,
    context: Context,
    messages: Subscriber,
    connections: watch::Receiver<u64>,
    consumer: String,
    /// Counts what was delivered.
    delivered: u64,
    /// There was nothing to deliver when it began.
    pub empty: bool,
    /// Where the stream ended just before it began, and which stream that was.
    pub last_before: u64,
    pub created: String,
}

pub struct Delivered {
    pub name: String,
    pub sequence: u64,
    pub headers: HeaderMap,
    pub payload: Bytes,
    /// How many more there were when this was sent.
    pub pending: u64,
}

impl Feed {
    pub async fn open(bucket: &Bucket) -> Result<Feed, Failure> {
        let silent = |e: String| Failure::Silent(e);
        let mut connections = bucket.nats.connections();
        connections.mark_unchanged();
        let info = bucket.info().await?;
        let client = bucket.nats.client();
        let inbox = client.new_inbox();
        let messages = client.subscribe(inbox.clone()).await.map_err(|e| silent(e.to_string()))?;
        let config = push::Config {
            deliver_subject: inbox,
            deliver_policy: DeliverPolicy::All,
            ack_policy: AckPolicy::None,
            replay_policy: ReplayPolicy::Instant,
            flow_control: true,
            idle_heartbeat: HEARTBEAT,
            memory_storage: true,
            num_replicas: 1,
            inactive_threshold: Duration::from_secs(10),
            ..push::Config::default()
        };
        let context = bucket.context();
        let made: consumer::PushConsumer = context
            .create_consumer_on_stream(config, bucket.stream_name())
            .await
            .map_err(|e| silent(e.to_string()))?;
        let cached = made.cached_info();
        Ok(Feed {
            bucket: bucket.clone(),
            context,
            messages,
            connections,
            consumer: cached.name.clone(),
            delivered: 0,
            empty: cached.num_pending == 0 && cached.delivered.consumer_sequence == 0,
            last_before: info.state.last_seq,
            created: info.created,
        })
    }

    pub async fn next(&mut self) -> Result<Delivered, Failure> {
        loop {
            let message = tokio::select! {
                message = self.messages.next() => message,
                _ = self.connections.changed() => {
                    return Err(Failure::Silent("the connection was made anew".to_owned()));
                }
                () = tokio::time::sleep(SILENCE) => {
                    return Err(Failure::Silent("no heartbeat".to_owned()));
                }
            };
            let message = message.ok_or_else(|| Failure::Silent("the subscription ended".to_owned()))?;
            if message.status.is_some() {
                self.answer_flow_control(&message).await?;
                continue;
            }
            return self.read(message);
        }
    }

    /// The server waits for an answer before it sends more.
    async fn answer_flow_control(&self, message: &Message) -> Result<(), Failure> {
        let stalled = message.headers.as_ref().and_then(|headers| headers.get(STALLED));
        let reply = message.reply.as_ref().map(ToString::to_string);
        if let Some(subject) = reply.or_else(|| stalled.map(ToString::to_string)) {
            let client = self.bucket.nats.client();
            client.publish(subject, Bytes::new()).await.map_err(|e| Failure::Silent(e.to_string()))?;
        }
        Ok(())
    }

    fn read(&mut self, message: Message) -> Result<Delivered, Failure> {
        let garbled = || Failure::Silent("a message that cannot be placed".to_owned());
        let message = jetstream::Message { message, context: self.context.clone() };
        let place = message.info().map_err(|_| garbled())?;
        if place.consumer_sequence != self.delivered + 1 {
            return Err(Failure::Silent("a message is missing".to_owned()));
        }
        self.delivered = place.consumer_sequence;
        let (sequence, pending) = (place.stream_sequence, place.pending);
        let prefix = self.bucket.subject("");
        let name = message.subject.strip_prefix(prefix.as_str()).ok_or_else(garbled)?.to_owned();
        let message = message.message;
        let headers = message.headers.unwrap_or_default();
        Ok(Delivered { name, sequence, headers, payload: message.payload, pending })
    }

    /// Lets the server forget it at once instead of after a while.
    pub async fn close(mut self) {
        let _ = self.messages.unsubscribe().await;
        let _ = self.context.delete_consumer_from_stream(&self.consumer, self.bucket.stream_name()).await;
    }
}
