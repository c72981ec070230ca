//! Whole runs of eos with the real tofu: what a person types, what the commands say, and what is there afterwards. The
//! units hold `terraform_data` only, so that every run is quick; Nomad and Salt have tests of their own.
#![allow(clippy::unwrap_used)]

mod support;

#[path = "runs/asking.rs"]
mod asking;
#[path = "runs/clones.rs"]
mod clones;
#[path = "runs/failures.rs"]
mod failures;
#[path = "runs/half_way.rs"]
mod half_way;
#[path = "runs/hive.rs"]
mod hive;
#[path = "runs/kills.rs"]
mod kills;
#[path = "runs/lifecycle.rs"]
mod lifecycle;
#[path = "runs/nats.rs"]
mod nats;
#[path = "runs/orchestrated.rs"]
mod orchestrated;
#[path = "runs/ordinary_user.rs"]
mod ordinary_user;
#[path = "runs/picture.rs"]
mod picture;
#[path = "runs/place.rs"]
mod place;
#[path = "runs/purging.rs"]
mod purging;
#[path = "runs/refused.rs"]
mod refused;
#[path = "runs/rewritten.rs"]
mod rewritten;
#[path = "runs/screen.rs"]
mod screen;
#[path = "runs/servers.rs"]
mod servers;
#[path = "runs/settings.rs"]
mod settings;
#[path = "runs/silent.rs"]
mod silent;
#[path = "runs/taken_ports.rs"]
mod taken_ports;
#[path = "runs/taking_back.rs"]
mod taking_back;
#[path = "runs/typed.rs"]
mod typed;
