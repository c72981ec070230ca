//! An estate: a git repository whose pillar tree is the source of truth.
//!
//! Reading gives the same values as Salt renders from the same tree. Changing is one commit: either all of it is
//! there after a crash or none of it.

pub mod change;
pub mod entry;
pub mod estate;
pub mod estate_file;
mod fields;
pub mod files;
pub mod git;
mod git_lock;
mod git_publish;
pub mod git_remote;
pub mod history;
mod init;
pub mod intent_record;
pub mod lock_file;
mod pillar_file;
pub mod prices;
mod read_entry;
mod revision;
pub mod top;
pub mod tree;
pub mod words;

pub use change::{Change, Trailers};
pub use entry::{ComponentEntry, HostEntry, OperationEntry, VolumeChoice};
pub use estate::{Estate, Guard};
pub use estate_file::EstateFile;
pub use lock_file::LockFile;
pub use tree::{Environment, Tree};
