//! Everything on the real tofu and the real terraform, with units of `terraform_data`, which needs no download.
#![allow(clippy::unwrap_used)]

#[path = "real_tofu/backends.rs"]
mod backends;
#[path = "real_tofu/crashes.rs"]
mod crashes;
#[path = "real_tofu/drift.rs"]
mod drift;
#[path = "real_tofu/encryption.rs"]
mod encryption;
#[path = "real_tofu/http_server.rs"]
mod http_server;
#[path = "real_tofu/initialising.rs"]
mod initialising;
#[path = "real_tofu/interrupts.rs"]
mod interrupts;
#[path = "real_tofu/lifecycle.rs"]
mod lifecycle;
#[path = "real_tofu/locks.rs"]
mod locks;
#[path = "real_tofu/providers.rs"]
mod providers;
#[path = "real_tofu/secrecy.rs"]
mod secrecy;
#[path = "real_tofu/support.rs"]
mod support;
