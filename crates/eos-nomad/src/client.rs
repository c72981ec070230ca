//! Calls of Nomad's HTTP API, repeated where that is safe.
//!
//! A cluster without a leader, and an agent that is not there for a moment, are waited for: always where repeating changes
//! nothing, else only when the request cannot have been received. The wait is bounded by [`Patience`] and ends when the client is told to stop.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use ureq::http::{Method, Request, Response};
use ureq::{AsSendBody, Body};
use zeroize::Zeroizing;

use crate::connection::Connection;
use crate::error::{Error, from_status};
use crate::stop::Stop;

const CONNECT: Duration = Duration::from_secs(5);
/// A list of large jobs.
const LARGEST_ANSWER: u64 = 512 << 20;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long one blocking query lasts at most, and so how soon a wish to stop is seen.
pub(crate) const BLOCKING: Duration = Duration::from_secs(1);

/// How long to wait for a Nomad that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    pub unreachable: Duration,
    pub no_leader: Duration,
    /// For one call whose connection was taken.
    pub answer: Duration,
}

impl Patience {
    /// For a question a person waits for.
    pub const SHORT: Patience = Patience::seconds(2, 30, 30);
    /// For work that has begun: an agent may be restarted meanwhile.
    pub const LONG: Patience = Patience::seconds(60, 120, 60);

    /// Asks once.
    pub const fn at_once(answer: Duration) -> Patience {
        Patience { unreachable: Duration::ZERO, no_leader: Duration::ZERO, answer }
    }

    const fn seconds(unreachable: u64, no_leader: u64, answer: u64) -> Patience {
        Patience {
            unreachable: Duration::from_secs(unreachable),
            no_leader: Duration::from_secs(no_leader),
            answer: Duration::from_secs(answer),
        }
    }
}

#[derive(Clone)]
pub struct Client {
    agent: ureq::Agent,
    base: String,
    address: String,
    token: Option<Zeroizing<String>>,
    region: Option<String>,
    namespace: Option<String>,
    patience: Patience,
    stop: Stop,
}

/// An answer and the index it is of, for the next blocking query.
pub(crate) struct Reply {
    pub body: Zeroizing<Vec<u8>>,
    pub index: u64,
}

/// One call, before it is made.
pub(crate) struct Ask<'a> {
    pub method: Method,
    pub path: String,
    pub query: Vec<(&'a str, String)>,
    pub body: Option<Zeroizing<Vec<u8>>>,
    /// Doing it twice is doing it once.
    pub repeatable: bool,
    /// In words, for messages.
    pub operation: String,
}

impl Client {
    /// Reads the TLS files; asks nobody yet.
    pub fn new(connection: &Connection, patience: Patience, stop: Stop) -> Result<Client, Error> {
        let config = ureq::Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .tls_config(connection.tls_config()?)
            .build();
        let (agent, base) = connection.open(config)?;
        Ok(Client {
            agent,
            base,
            address: connection.address().to_owned(),
            token: connection.token.clone(),
            region: connection.region.clone(),
            namespace: connection.namespace.clone(),
            patience,
            stop,
        })
    }

    /// The same client, asking in another namespace.
    pub fn in_namespace(&self, namespace: Option<&str>) -> Client {
        Client { namespace: namespace.map(str::to_owned), ..self.clone() }
    }

    pub fn with_patience(&self, patience: Patience) -> Client {
        Client { patience, ..self.clone() }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    pub(crate) fn get<T: DeserializeOwned>(
        &self,
        path: String,
        query: &[(&str, String)],
        operation: String,
    ) -> Result<T, Error> {
        self.get_indexed(path, query, operation).map(|(answer, _)| answer)
    }

    pub(crate) fn get_indexed<T: DeserializeOwned>(
        &self,
        path: String,
        query: &[(&str, String)],
        operation: String,
    ) -> Result<(T, u64), Error> {
        let query = query.to_vec();
        let ask = Ask { method: Method::GET, path, query, body: None, repeatable: true, operation };
        let reply = self.ask(&ask)?;
        Ok((parse(&reply.body, &ask.operation)?, reply.index))
    }

    /// A call that has an effect; the body is JSON.
    pub(crate) fn send<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, Error> {
        let reply = self.ask(&ask)?;
        parse(&reply.body, &ask.operation)
    }

    pub(crate) fn ask(&self, ask: &Ask) -> Result<Reply, Error> {
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut was_away = false;
        loop {
            if self.stop.is_stopped() {
                return Err(Error::Stopped { operation: ask.operation.clone() });
            }
            let error = match self.once(ask) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let repeatable = ask.repeatable || !error.is_uncertain();
            let bound = match &error {
                Error::NoLeader { .. } => self.patience.no_leader,
                Error::Unreachable { .. } if repeatable => self.patience.unreachable,
                Error::Server { status: 429, .. } => self.patience.no_leader,
                // A server that has just come back does not know the tokens yet.
                Error::PermissionDenied { .. } if was_away => self.patience.unreachable,
                _ => return Err(error),
            };
            if start.elapsed() + pause > bound {
                return Err(error);
            }
            was_away |= error.is_unreachable();
            if self.stop.wait(pause) {
                return Err(Error::Stopped { operation: ask.operation.clone() });
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn once(&self, ask: &Ask) -> Result<Reply, Error> {
        let unreachable = |error: ureq::Error| {
            let refused =
                matches!(&error, ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused);
            let before = refused
                || matches!(
                    &error,
                    ureq::Error::HostNotFound
                        | ureq::Error::ConnectionFailed
                        | ureq::Error::Tls(_)
                        | ureq::Error::Rustls(_)
                )
                || matches!(&error, ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve));
            Error::Unreachable {
                operation: ask.operation.clone(),
                address: self.address.clone(),
                reason: error.to_string(),
                sent: !before,
            }
        };
        let mut request = Request::builder().method(ask.method.clone()).uri(self.uri(ask));
        if let Some(token) = &self.token {
            request = request.header("X-Nomad-Token", token.as_str());
        }
        let answer = match &ask.body {
            Some(body) => request.body(body.as_slice()).map(|request| self.run(request)),
            None => request.body(()).map(|request| self.run(request)),
        };
        let mut answer = answer
            .map_err(|error| Error::Setting { what: ask.operation.clone(), reason: error.to_string() })?
            .map_err(unreachable)?;
        let index = answer.headers().get("X-Nomad-Index").and_then(|value| value.to_str().ok()?.parse().ok());
        let body =
            answer.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec().map_err(unreachable)?;
        let body = Zeroizing::new(body);
        let status = answer.status().as_u16();
        if !answer.status().is_success() {
            let text = String::from_utf8_lossy(&body);
            return Err(from_status(&ask.operation, &self.address, status, &text));
        }
        Ok(Reply { body, index: index.unwrap_or_default() })
    }

    fn run(&self, request: Request<impl AsSendBody>) -> Result<Response<Body>, ureq::Error> {
        let within = Some(self.patience.answer);
        self.agent.run(self.agent.configure_request(request).timeout_global(within).build())
    }

    fn uri(&self, ask: &Ask) -> String {
        let mut uri = format!("{}{}", self.base, ask.path);
        let own = [("region", &self.region), ("namespace", &self.namespace)];
        let own = own.into_iter().filter_map(|(key, value)| value.as_ref().map(|value| (key, value)));
        for (at, (key, value)) in own.chain(ask.query.iter().map(|(key, value)| (*key, value))).enumerate() {
            uri.push(if at == 0 { '?' } else { '&' });
            uri.push_str(key);
            uri.push('=');
            uri.push_str(&escape(value));
        }
        uri
    }
}

fn parse<T: DeserializeOwned>(body: &[u8], operation: &str) -> Result<T, Error> {
    serde_json::from_slice(body)
        .map_err(|error| Error::Answer { operation: operation.to_owned(), reason: error.to_string() })
}

/// A word in a path or in a query; a slash stays, since Nomad's names have them.
pub(crate) fn escape(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for byte in word.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                escaped.push(byte.into());
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// The query that makes a read wait for something newer than `index`.
pub(crate) fn newer_than(index: u64) -> Vec<(&'static str, String)> {
    if index == 0 {
        return Vec::new();
    }
    vec![("index", index.to_string()), ("wait", format!("{}ms", BLOCKING.as_millis()))]
}
