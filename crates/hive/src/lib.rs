//! Hive's gateway: an EC2 and STS endpoint on this machine.
//!
//! `start` makes or opens a data directory (credentials and CA in it, 0600), binds, and is ready; `control` is
//! how other processes ask a running gateway; `environment` is what a client must have set. The library
//! prints nothing but what [`Config::log`] is told to, and reads no environment variable.

mod config;
pub mod control;
pub mod coverage;
mod credentials;
mod data_directory;
pub mod environment;
mod error;
mod gateway;
mod key_ring;
mod lingering;
mod log;
mod memory;
mod request;
mod sessions;
mod store;
mod sts;
mod tls;

pub use config::{Config, NatsUrl, Store, parse_account, parse_node, parse_region};
pub use credentials::{AccessKey, Credentials};
pub use data_directory::DataDirectory;
pub use eos_store::Durability;
pub use error::HiveError;
pub use gateway::{Gateway, start};
pub use hive_ec2::{Limits, Log, RecordsNode};
pub use log::stderr_log;
pub use memory::keep_memory_small;
