//! What was done to an estate: commits with the commands that made them, and who last wrote a line.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::Diagnostic;
use git2::Oid;
use serde::Serialize;

use crate::git::{Git, failed};

/// One recorded change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recorded {
    pub commit: String,
    /// Seconds since 1970, UTC.
    pub time: i64,
    pub author: String,
    pub subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Git {
    /// The newest `limit` changes, newest first; only those that touched one of `paths` where there are any.
    pub fn history(&self, paths: &[Utf8PathBuf], limit: usize) -> Result<Vec<Recorded>, Diagnostic> {
        let doing = |error: git2::Error| failed("read its history", &error);
        let mut walk = self.repository.revwalk().map_err(doing)?;
        walk.set_sorting(git2::Sort::TOPOLOGICAL).map_err(doing)?;
        if self.head()?.is_none() {
            return Ok(Vec::new());
        }
        walk.push_head().map_err(doing)?;
        let mut found = Vec::new();
        for oid in walk {
            if found.len() == limit {
                break;
            }
            let commit = oid.and_then(|oid| self.repository.find_commit(oid)).map_err(doing)?;
            if paths.is_empty() || paths.iter().any(|path| touched(&commit, path)) {
                found.push(recorded(&commit));
            }
        }
        Ok(found)
    }

    /// The changes that `to` has and `from` has not, newest first.
    pub(crate) fn between(&self, from: Option<Oid>, to: Oid) -> Result<Vec<Recorded>, Diagnostic> {
        let doing = |error: git2::Error| failed("read its history", &error);
        let mut walk = self.repository.revwalk().map_err(doing)?;
        walk.set_sorting(git2::Sort::TOPOLOGICAL).map_err(doing)?;
        walk.push(to).map_err(doing)?;
        if let Some(from) = from {
            walk.hide(from).map_err(doing)?;
        }
        walk.map(|oid| oid.and_then(|oid| self.repository.find_commit(oid)).map(|commit| recorded(&commit)))
            .collect::<Result<_, _>>()
            .map_err(doing)
    }

    /// For each line of a file with this content, the change that last wrote it; none where it is in no commit.
    pub fn blame(&self, path: &Utf8Path, content: &[u8]) -> Result<Vec<Option<Recorded>>, Diagnostic> {
        let doing = |error: git2::Error| failed("find who wrote a line", &error);
        let recorded_lines = self.repository.blame_file(path.as_std_path(), None).map_err(doing)?;
        let blame = recorded_lines.blame_buffer(content).map_err(doing)?;
        let mut known: HashMap<git2::Oid, Recorded> = HashMap::new();
        let mut lines = Vec::new();
        for hunk in blame.iter() {
            let oid = hunk.final_commit_id();
            if oid.is_zero() {
                lines.extend(std::iter::repeat_n(None, hunk.lines_in_hunk()));
                continue;
            }
            let change = match known.entry(oid) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    entry.insert(recorded(&self.repository.find_commit(oid).map_err(doing)?))
                }
            };
            lines.extend(std::iter::repeat_n(Some(change.clone()), hunk.lines_in_hunk()));
        }
        Ok(lines)
    }
}

fn touched(commit: &git2::Commit<'_>, path: &Utf8Path) -> bool {
    let entry = |commit: &git2::Commit<'_>| {
        commit.tree().ok().and_then(|tree| tree.get_path(path.as_std_path()).ok().map(|entry| entry.id()))
    };
    let now = entry(commit);
    match commit.parent(0) {
        Ok(parent) => entry(&parent) != now,
        Err(_) => now.is_some(),
    }
}

fn recorded(commit: &git2::Commit<'_>) -> Recorded {
    let message = commit.message().unwrap_or_default().to_owned();
    // Trailers are the last paragraph and never the first: a subject that looks like one is a subject.
    let last = message.trim_end().rsplit_once("\n\n").map_or("", |(_, last)| last);
    let trailer = |key: &str| {
        last.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ")).map(str::to_owned)
    };
    Recorded {
        commit: commit.id().to_string(),
        time: commit.time().seconds(),
        author: commit.author().name().unwrap_or_default().to_owned(),
        subject: message.lines().next().unwrap_or_default().to_owned(),
        command: trailer("Eos-Command"),
        user: trailer("Eos-User"),
        reason: trailer("Eos-Reason"),
    }
}
