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
    pub durability: Durability,
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
        }
    }
}
