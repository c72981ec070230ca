//! Whole runs on the real tools: eos drives tofu, Nomad runs Debian's programs, Salt sets up this machine's folders.
//!
//! One Nomad agent serves all of them, so that each test has names of its own. `cargo test --test real_runs -- --ignored`
//! runs what takes minutes.
#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod support;

use support::processes;

#[path = "real_runs/adopted.rs"]
mod adopted;
#[path = "real_runs/cloud_token.rs"]
mod cloud_token;
#[path = "real_runs/doctor.rs"]
mod doctor;
#[path = "real_runs/ejected.rs"]
mod ejected;
#[path = "real_runs/emptied.rs"]
mod emptied;
#[path = "real_runs/failed_operation.rs"]
mod failed_operation;
#[path = "real_runs/failing.rs"]
mod failing;
#[path = "real_runs/interrupted.rs"]
mod interrupted;
#[path = "real_runs/killed_kinds.rs"]
mod killed_kinds;
#[path = "real_runs/kills.rs"]
mod kills;
#[path = "real_runs/lifecycle.rs"]
mod lifecycle;
#[path = "real_runs/lost_clone.rs"]
mod lost_clone;
#[path = "real_runs/once.rs"]
mod once;
#[path = "real_runs/pillar_outputs.rs"]
mod pillar_outputs;
#[path = "real_runs/placing.rs"]
mod placing;
#[path = "real_runs/scanner.rs"]
mod scanner;
#[path = "real_runs/secrets_stay.rs"]
mod secrets_stay;
#[allow(dead_code)]
#[path = "runs/servers.rs"]
mod servers;
#[path = "real_runs/shop.rs"]
mod shop;
#[path = "real_runs/taken_ill.rs"]
mod taken_ill;
#[path = "real_runs/terraform.rs"]
mod terraform;
#[path = "real_runs/unhealthy.rs"]
mod unhealthy;
