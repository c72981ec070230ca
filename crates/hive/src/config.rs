//! What a gateway is started with.

use std::net::SocketAddr;
use std::path::PathBuf;

use eos_store::Durability;

#[derive(Debug, Clone)]
pub struct Config {
    /// Holds the store, credentials, CA and control socket; made if it is not there.
    pub data: PathBuf,
    /// Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Without TLS: for clients that cannot be given a CA.
    pub plain_http: bool,
    pub region: String,
    /// Refuse parameters that an action does not know instead of counting them.
    pub strict: bool,
    /// Of the embedded store.
    pub durability: Durability,
    pub store: Store,
}

/// Where the records are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Store {
    /// In the data directory, for one gateway.
    #[default]
    Embedded,
    /// On a NATS server with JetStream, for any number of gateways.
    Nats(NatsUrl),
}

/// An address that may hold a password, which no message shows.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsUrl(pub(crate) String);

impl std::fmt::Debug for NatsUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nats://…")
    }
}

impl std::str::FromStr for Store {
    type Err = String;

    /// `embedded`, or `nats://host:port` (`tls://…`), several separated by commas.
    fn from_str(text: &str) -> Result<Self, String> {
        let nats = |one: &str| {
            let rest = one.trim().strip_prefix("nats://").or_else(|| one.trim().strip_prefix("tls://"));
            rest.is_some_and(|rest| !rest.is_empty())
        };
        match text {
            "embedded" => Ok(Store::Embedded),
            _ if text.split(',').all(nats) => Ok(Store::Nats(NatsUrl(text.to_owned()))),
            _ => Err("a store is `embedded` or an address such as nats://127.0.0.1:4222".to_owned()),
        }
    }
}

impl Config {
    /// `https://localhost:9999`, embedded store, every answer durable.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            listen: SocketAddr::from(([127, 0, 0, 1], 9999)),
            plain_http: false,
            region: "us-east-1".to_owned(),
            strict: false,
            durability: Durability::Full,
            store: Store::Embedded,
        }
    }
}
