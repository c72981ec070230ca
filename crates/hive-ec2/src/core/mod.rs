//! What is done once, for all actions: dispatch, transactions, pagination, filters, DryRun, ClientToken, tags.

pub mod action;
pub mod alone;
pub mod call;
pub mod client_token;
pub mod common;
pub mod engine;
pub mod environment;
pub mod filter;
pub mod followed;
pub mod id;
pub mod index;
pub mod integrity;
pub mod leftovers;
pub mod log;
pub mod page;
pub mod postings;
pub mod reports;
pub mod shared;
pub mod store_failed;
pub mod table;
pub mod tags;
pub mod text;
mod to_the_end;
pub mod unknown;
pub mod world;
