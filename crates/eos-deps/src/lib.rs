//! The right tool, always: found, fetched, verified, cached.
//!
//! [`Tools`] knows every tool eos drives from one pinned table (`tools.toml`). A tool is taken from the search path when
//! its version is accepted, else from the cache, else installed into the cache from the first source that works: an
//! offline bundle, the project's own release, a Go module, PyPI. Bytes that do not match their checksum stop the
//! installation; sources that merely fail are passed over, and told together when none is left.
//!
//! The library prints nothing, reads no variable of the environment itself and never leaves something half installed that
//! it would use.

mod build;
mod cache;
mod digest;
mod download;
mod failure;
mod found;
mod lock_file;
mod probe;
mod progress;
mod record;
mod report;
mod source;
mod table;
mod tools;
mod unpack;
mod version;

pub use found::{Found, Source, ToolStatus};
pub use progress::{Progress, Silent, Step};
pub use report::TERRAFORM_INSTEAD;
pub use table::{Table, TableError};
pub use tools::{Settings, Tools};
pub use version::{BadVersion, Range, Version};
