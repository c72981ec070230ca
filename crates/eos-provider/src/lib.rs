//! The OpenTofu provider of eos, plugin protocol 6: Nomad jobs and Salt states as resources.
//!
//! [`serve`] is the whole process when tofu starts the binary as a plugin. It speaks on a unix socket in a private folder
//! to the one client whose certificate it was given. Work is done in threads that block; a wish to stop reaches them.
//! Secrets are resolved in Apply only and are in no plan, state or message.

mod call;
mod connection;
mod diagnostics;
mod guard;
mod handlers;
mod nomad_job;
mod protocol;
mod redact;
mod resource;
mod salt_state;
mod schema;
mod serve;
mod service;
mod settings;
mod side_socket;
mod tls;
mod unix_socket;
mod value;

pub use nomad_job::{as_registered, is_secret, redact_tasks, take_out_secrets};
pub use redact::Redact;
pub use salt_state::is_this_machine;
pub use serve::{ServeError, parent_of_sockets, serve};
pub use settings::{COOKIE, NomadSettings, PluginSettings, SaltSettings, Settings, is_plugin};
pub use unix_socket::sweep as sweep_sockets;
