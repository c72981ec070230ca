//! What a gateway is started with.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use eos_store::Durability;
use hive_ec2::{EVERYONE, Limits, Log};

#[derive(Debug, Clone)]
pub struct Config {
    /// Holds the store, credentials, CA and control socket; made if it is not there.
    pub data: PathBuf,
    /// Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Without TLS: for clients that cannot be given a CA.
    pub plain_http: bool,
    pub region: String,
    /// The name under which this gateway's node is in every record that it makes. On a store that several share each
    /// has its own.
    pub node: String,
    /// Refuse parameters that an action does not know instead of counting them.
    pub strict: bool,
    /// Of the embedded store.
    pub durability: Durability,
    pub store: Store,
    /// How many of each an account may have.
    pub limits: Limits,
    /// What whoever runs it is told; nowhere unless set.
    pub log: Log,
}

/// A region such as `us-east-1`: words and a number, as clients take it apart.
pub fn parse_region(text: &str) -> Result<String, String> {
    let words: Vec<&str> = text.split('-').collect();
    let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    match words.split_last() {
        Some((number, names)) if names.len() >= 2 && names.iter().all(is_word) && is_number(number) => {
            Ok(text.to_owned())
        }
        _ => Err("a region is written like us-east-1".to_owned()),
    }
}

pub fn parse_account(text: &str) -> Result<String, String> {
    if text == EVERYONE {
        return Err("Hive keeps what all accounts share under this number: take another".to_owned());
    }
    if text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err("an account is twelve digits".to_owned())
    }
}

/// A node's name: part of keys, so letters, digits and dashes.
pub fn parse_node(text: &str) -> Result<String, String> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if (1..=63).contains(&text.len()) && text.bytes().all(is_plain) && text != hive_ec2::NodeId::NONE {
        Ok(text.to_owned())
    } else {
        Err("a node's name is up to 63 of a-z, 0-9 and -, and not `none`".to_owned())
    }
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

impl std::fmt::Display for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Store::Nats(NatsUrl(url)) = self else { return f.write_str("embedded") };
        let without_password = |one: &str| match (one.split_once("://"), one.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            _ => one.to_owned(),
        };
        let all: Vec<_> = url.split(',').map(|one| without_password(one.trim())).collect();
        f.write_str(&all.join(","))
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
    /// All of it but where it is and what it says, by the names of the options. A store's password is not in it.
    pub fn options(&self) -> BTreeMap<String, String> {
        let durability = if matches!(self.durability, Durability::Full) { "full" } else { "relaxed" };
        let all = [
            ("port", self.listen.port().to_string()),
            ("plain-http", self.plain_http.to_string()),
            ("region", self.region.clone()),
            ("node", self.node.clone()),
            ("strict", self.strict.to_string()),
            ("durability", durability.to_owned()),
            ("store", self.store.to_string()),
            ("limit", self.limits.to_string()),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// `https://localhost:9999`, embedded store, every answer durable.
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            listen: SocketAddr::from(([127, 0, 0, 1], 9999)),
            plain_http: false,
            region: "us-east-1".to_owned(),
            node: "local".to_owned(),
            strict: false,
            durability: Durability::Full,
            store: Store::Embedded,
            limits: Limits::default(),
            log: Log::default(),
        }
    }
}
