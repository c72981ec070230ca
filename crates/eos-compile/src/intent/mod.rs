//! From what a person asked for to pillar entries with every choice written down.
//!
//! Pure: the caller brings the environment and the request, and gets entries, the secrets to be made, and sentences
//! about what was chosen and why. Nothing that was chosen before is chosen again.

mod chooser;
mod complete;
mod deleting;
mod entry_file;
mod host;
mod kept;
mod on_host;
mod operation;
mod providers;
mod request;
mod secrets;
mod unused;
mod verbs;
mod volumes;

pub use complete::with_features;
pub use deleting::{delete, deletes, left_behind, users_first};
pub use entry_file::{HEADER, component_path, entry_text, host_path, operation_path, ours};
pub use host::{host, host_entry};
pub use kept::{holds_data, remembered};
pub use on_host::{belongs_to_nothing, unknown_on_host};
pub use operation::{PlannedOperation, operation};
pub use request::{
    HostRequest, OperationRequest, Planned, PlannedEntry, Request, SecretSource, SecretToMake,
};
pub use verbs::{create, kept_secret, of_kind, unknown_name, update};
pub use volumes::DATA_FOLDER;
