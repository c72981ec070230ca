//! The record written before a change touches anything, so that the next command can finish or undo it.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, Place, codes};
use serde::{Deserialize, Serialize};

use crate::files;

/// Its path in an estate.
pub const INTENT: &str = ".eos/state/intent.json";
const FORMAT: u32 = 1;

/// A change under way. The commit exists already; the branch decides whether the change has happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentRecord {
    pub format: u32,
    pub base: Option<String>,
    pub commit: String,
    /// What was to move: a branch, or HEAD when detached.
    pub branch: String,
    pub files: Vec<Utf8PathBuf>,
    /// What was there before and in no commit, such as a `.gitignore` that `eos init` adds lines to: undone, it is again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl IntentRecord {
    pub fn new(
        base: Option<String>,
        commit: String,
        branch: String,
        files: Vec<Utf8PathBuf>,
    ) -> IntentRecord {
        IntentRecord { format: FORMAT, base, commit, branch, files, before: BTreeMap::new() }
    }

    pub fn keeping(self, before: BTreeMap<Utf8PathBuf, Vec<u8>>) -> IntentRecord {
        IntentRecord { before, ..self }
    }

    pub fn write(&self, root: &Utf8Path) -> Result<(), Diagnostic> {
        files::write(root, Utf8Path::new(INTENT), serde_json::to_string(self).unwrap_or_default().as_bytes())
    }

    pub fn read(root: &Utf8Path) -> Result<Option<IntentRecord>, Diagnostic> {
        let Some(bytes) = files::read(root, Utf8Path::new(INTENT))? else { return Ok(None) };
        let bad = |problem: String| {
            Diagnostic::error(codes::NEWER_FORMAT, format!("{INTENT} cannot be read: {problem}"))
                .at(Place::file(INTENT))
                .why("a change was under way and this eos cannot tell which")
                .fix("use the eos that wrote it; or check git status and remove the file")
        };
        let record: IntentRecord = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
        if record.format > FORMAT {
            return Err(bad(format!("it has format {}, this eos reads up to {FORMAT}", record.format)));
        }
        Ok(Some(record))
    }

    pub fn remove(root: &Utf8Path) -> Result<(), Diagnostic> {
        match fs_err::remove_file(root.join(INTENT)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(files::cannot_write(Utf8Path::new(INTENT), &error))
            }
            _ => Ok(()),
        }
    }
}
