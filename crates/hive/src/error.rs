//! Why a gateway cannot start or be asked.

use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum HiveError {
    #[error("cannot {operation} {path}: {source}")]
    File { operation: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{path} cannot be read: {reason}")]
    Unreadable { path: PathBuf, reason: String },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("cannot make or use the certificate: {0}")]
    Tls(String),
    #[error("no gateway is running on {0}")]
    NotRunning(PathBuf),
    #[error(
        "another gateway runs on {0}: each has a data directory of its own, also when they share a store"
    )]
    InUse(PathBuf),
    #[error("{0} holds something else: Hive's data directory is its own, and closed to everyone else")]
    Foreign(PathBuf),
    #[error("the records of {data} are of the region {found}, not {asked}")]
    Region { data: PathBuf, found: String, asked: String },
    #[error("{0} cannot be an account: {1}")]
    Account(String, String),
    #[error("the running gateway does not let in the key of account {0}; its log says why")]
    NotLetIn(String),
    #[error("there is no key {0}")]
    UnknownKey(String),
    #[error("there is no key of the account {0}")]
    UnknownAccount(String),
    #[error("the gateway answered something else: {0}")]
    Answer(String),
    #[error(transparent)]
    Store(#[from] eos_store::StoreError),
    #[error(transparent)]
    Engine(#[from] hive_ec2::EngineError),
}

impl HiveError {
    pub(crate) fn file(
        operation: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| HiveError::File { operation, path, source }
    }
}
