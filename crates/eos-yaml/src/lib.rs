//! YAML as Salt reads it and as eos writes it.
//!
//! [`parse`] gives what Salt's pillar renderer would see (YAML 1.1 scalars, Salt's own treatment of leading
//! zeros, merge keys, duplicate keys refused), with the place of every node. What cannot be read the same way
//! as Salt does is refused with a diagnostic, never guessed: see [`parse`] for the list. [`merge`] is Salt's
//! pillar merge; each leaf still knows its file. [`write`] gives text that Salt reads back as the same value.
//!
//! Nothing here touches a file, the clock or the environment.

mod compose;
mod from_node;
mod jinja;
mod mapping;
mod merge;
mod node;
mod outside;
mod parse;
mod precheck;
mod quote;
mod scalar;
mod sources;
mod span;
mod write;

pub use from_node::{ShapeError, from_node};
pub use merge::{merge, merge_unless};
pub use node::{FileId, Mark, Node, Value};
pub use parse::{LARGEST_FILE, parse};
pub use sources::{Document, Sources};
pub use write::{write, write_with_lines};
