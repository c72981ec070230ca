//! `installed.json`: what was installed, from where, and what its bytes were.
//!
//! It is written last. A directory without it is the remains of an installation that did not finish, and is never used.

use std::io::Write;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::found::Source;
use crate::version::Version;

pub(crate) const FILE: &str = "installed.json";
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Of this file; a newer one is refused.
    pub format: u32,
    pub name: String,
    pub version: Version,
    pub source: Source,
    pub verified_by: String,
    /// Relative to the directory.
    pub executable: Utf8PathBuf,
    pub sha256: String,
    pub size: u64,
    /// Seconds and nanoseconds.
    pub modified: (i64, i64),
    /// A venv only: the sum of all its files, and where it was built, since it runs nowhere else.
    pub tree: Option<Tree>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tree {
    pub sha256: String,
    pub built_at: Utf8PathBuf,
}

/// Why a directory of the cache is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("nothing is installed in {0}")]
    Absent(Utf8PathBuf),
    #[error("{0} is the remains of an installation that did not finish")]
    Unfinished(Utf8PathBuf),
    #[error("{0} was written by a newer eos")]
    Newer(Utf8PathBuf),
    #[error("{0} was built at another place and cannot run here")]
    Moved(Utf8PathBuf),
    #[error("{path} has sha256 {actual}; it had {expected} when it was installed")]
    Changed { path: Utf8PathBuf, expected: String, actual: String },
    #[error("{path}: {reason}")]
    Unreadable { path: Utf8PathBuf, reason: String },
}

impl Record {
    /// Describes what lies in `directory` now.
    pub fn of(
        directory: &Utf8Path,
        executable: &Utf8Path,
        (name, version): (&str, &Version),
        (source, verified_by): (Source, String),
        is_venv: bool,
    ) -> std::io::Result<Record> {
        let path = directory.join(executable);
        let metadata = fs_err::metadata(&path)?;
        let tree = if is_venv {
            Some(Tree { sha256: digest::of_tree(directory, FILE)?, built_at: directory.to_owned() })
        } else {
            None
        };
        Ok(Record {
            format: FORMAT,
            name: name.to_owned(),
            version: version.clone(),
            source,
            verified_by,
            executable: executable.to_owned(),
            sha256: digest::of_file(&path)?,
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            tree,
        })
    }

    /// Puts the record into the directory in one step, on disk before it is visible.
    pub fn write(&self, directory: &Utf8Path) -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(directory.join(FILE)).map_err(|error| error.error)?;
        fs_err::File::open(directory)?.sync_all()
    }

    pub fn read(directory: &Utf8Path) -> Result<Record, Refusal> {
        let path = directory.join(FILE);
        let unreadable = |reason: String| Refusal::Unreadable { path: path.clone(), reason };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let exists = directory.exists();
                let refusal = if exists { Refusal::Unfinished } else { Refusal::Absent };
                return Err(refusal(directory.to_owned()));
            }
            Err(error) => return Err(unreadable(error.to_string())),
        };
        // The format first: a newer record may have another shape.
        #[derive(Deserialize)]
        struct FormatOnly {
            format: u32,
        }
        let FormatOnly { format } =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        if format > FORMAT {
            return Err(Refusal::Newer(path));
        }
        let record: Record = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        match &record.tree {
            Some(tree) if tree.built_at != directory => Err(Refusal::Moved(directory.to_owned())),
            _ => Ok(record),
        }
    }

    /// Cheap: size and time of the executable are as recorded. Where they are not (a cache that was copied), its sum
    /// decides. Hashing always would add 0.1 s to each use of tofu and seconds to a large provider's.
    pub fn check_quickly(&self, directory: &Utf8Path) -> Result<(), Refusal> {
        let path = directory.join(&self.executable);
        let metadata = std::fs::metadata(&path)
            .map_err(|error| Refusal::Unreadable { path: path.clone(), reason: error.to_string() })?;
        if metadata.len() == self.size && (metadata.mtime(), metadata.mtime_nsec()) == self.modified {
            return Ok(());
        }
        compare(path.clone(), &self.sha256, digest::of_file(&path))
    }

    /// Every byte that was installed is read again.
    pub fn check_fully(&self, directory: &Utf8Path) -> Result<(), Refusal> {
        let path = directory.join(&self.executable);
        compare(path.clone(), &self.sha256, digest::of_file(&path))?;
        match &self.tree {
            Some(tree) => compare(directory.to_owned(), &tree.sha256, digest::of_tree(directory, FILE)),
            None => Ok(()),
        }
    }
}

fn compare(path: Utf8PathBuf, expected: &str, actual: std::io::Result<String>) -> Result<(), Refusal> {
    match actual {
        Ok(actual) if actual == expected => Ok(()),
        Ok(actual) => Err(Refusal::Changed { path, expected: expected.to_owned(), actual }),
        Err(error) => Err(Refusal::Unreadable { path, reason: error.to_string() }),
    }
}
