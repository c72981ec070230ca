//! Records as plain files, for the command line: one file a key, readable by anything at any time.
//!
//! ```text
//! format         the version of all this
//! lock           locked (flock) by whoever writes
//! last           the last batch, whole: what makes it happen is this file's rename
//! records/<key>  one record each
//! ```
//!
//! A batch is written to `last` first, in one rename, and then to its files. `last` stays until the next batch, which
//! begins by seeing to it that every file of the one before is in place. So whoever reads takes the files, and over
//! them what `last` says: a batch is there whole or not at all, also when the writer was killed half-way. If `last` has
//! been replaced meanwhile, the reader begins again.

mod durable;
mod layout;
mod records;

pub use records::FolderRecords;
