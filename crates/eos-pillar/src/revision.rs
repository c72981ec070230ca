//! Older revisions of an estate: naming one, asking what descends from what, and the change that goes back to one.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Ancestry, Diagnostic, codes};
use git2::{ObjectType, Oid, TreeWalkMode, TreeWalkResult};

use crate::change::Change;
use crate::git::{Git, failed};

/// What going back replaces: what was asked for. The catalogue and where servers are stay as they are today.
const GOES_BACK: &[&str] = &["pillar/"];
/// What only grows: a secret opens data that is still there.
const COMES_BACK: &str = "secrets/";

impl Git {
    /// The commit that `HEAD~2`, a branch or the start of an id names.
    pub fn revision(&self, text: &str) -> Result<String, Diagnostic> {
        let found = self
            .repository
            .revparse_single(text)
            .and_then(|object| object.peel_to_commit())
            .map(|commit| commit.id().to_string());
        found.map_err(|_| {
            Diagnostic::error(codes::UNKNOWN_NAME, format!("{text} names no commit of this estate"))
                .fix("eos history shows the commits; HEAD~1 is the one before the last")
        })
    }

    /// How `newer` stands to `older`.
    pub fn ancestry(&self, newer: &str, older: &str) -> Result<Ancestry, Diagnostic> {
        if newer == older {
            return Ok(Ancestry::Contains);
        }
        let (Ok(newer), Ok(older)) = (Oid::from_str(newer), Oid::from_str(older)) else {
            return Ok(Ancestry::Behind);
        };
        if self.repository.find_commit(older).is_err() {
            return Ok(Ancestry::Behind);
        }
        let made_from = |later, earlier| {
            self.repository
                .graph_descendant_of(later, earlier)
                .map_err(|error| failed("compare two commits", &error))
        };
        Ok(if made_from(newer, older)? {
            Ancestry::Contains
        } else if made_from(older, newer)? {
            Ancestry::Behind
        } else {
            Ancestry::Beside
        })
    }

    /// Whether `older` is `newer` or one it was made from. A commit this clone does not have is not.
    pub fn descends(&self, newer: &str, older: &str) -> Result<bool, Diagnostic> {
        Ok(self.ancestry(newer, older)? == Ancestry::Contains)
    }

    /// The change that makes what an estate says what it said at `commit`. Secrets made since then stay.
    pub fn change_back_to(&self, commit: &str) -> Result<Change, Diagnostic> {
        let then = self.files_at(commit)?;
        let now = match self.head()? {
            Some(head) => self.files_at(&head.to_string())?,
            None => BTreeMap::new(),
        };
        let mut change = Change::default();
        for (path, blob) in &then {
            let goes_back = GOES_BACK.iter().any(|start| path.as_str().starts_with(start));
            let is_lost = path.as_str().starts_with(COMES_BACK) && !now.contains_key(path);
            if (goes_back && now.get(path) != Some(blob)) || is_lost {
                let bytes =
                    self.repository.find_blob(*blob).map_err(|e| failed("read a recorded file", &e))?;
                change.write(path.clone(), bytes.content().to_vec());
            }
        }
        for path in now.keys().filter(|path| !then.contains_key(*path)) {
            if GOES_BACK.iter().any(|start| path.as_str().starts_with(start)) {
                change.remove(path.clone());
            }
        }
        Ok(change)
    }

    /// A file as a commit has it.
    pub fn file_at(&self, commit: &str, path: &Utf8Path) -> Result<Option<Vec<u8>>, Diagnostic> {
        let commit = self.commit(commit)?;
        let Some(blob) = blob_of(&commit, path)? else { return Ok(None) };
        let bytes = self.repository.find_blob(blob).map_err(|e| failed("read a recorded file", &e))?;
        Ok(Some(bytes.content().to_vec()))
    }

    /// The files that a commit has below a folder, which ends in a slash.
    pub fn paths_at(&self, commit: &str, folder: &str) -> Result<Vec<Utf8PathBuf>, Diagnostic> {
        let all = self.files_at(commit)?.into_keys();
        Ok(all.filter(|path| path.as_str().starts_with(folder)).collect())
    }

    /// A file as it was before it came to be what it is at `commit`, for as far back as `go_on` wants to see it.
    pub fn versions_before(
        &self,
        commit: &str,
        path: &Utf8Path,
        mut go_on: impl FnMut(Option<&[u8]>) -> bool,
    ) -> Result<(), Diagnostic> {
        let mut at = self.commit(commit)?;
        let mut seen = blob_of(&at, path)?;
        while at.parent_count() > 0 {
            at = at.parent(0).map_err(|e| failed("read an older revision", &e))?;
            let blob = blob_of(&at, path)?;
            if blob == seen {
                continue;
            }
            seen = blob;
            let found = seen.map(|blob| self.repository.find_blob(blob)).transpose();
            let found = found.map_err(|e| failed("read a recorded file", &e))?;
            if !go_on(found.as_ref().map(|blob| blob.content())) {
                break;
            }
        }
        Ok(())
    }

    /// The commit that an estate began with.
    pub fn first_commit(&self, commit: &str) -> Result<String, Diagnostic> {
        let mut at = self.commit(commit)?;
        while at.parent_count() > 0 {
            at = at.parent(0).map_err(|e| failed("read an older revision", &e))?;
        }
        Ok(at.id().to_string())
    }

    fn commit(&self, id: &str) -> Result<git2::Commit<'_>, Diagnostic> {
        let found = Oid::from_str(id).and_then(|id| self.repository.find_commit(id));
        found.map_err(|error| failed("read an older revision", &error))
    }

    fn files_at(&self, commit: &str) -> Result<BTreeMap<Utf8PathBuf, Oid>, Diagnostic> {
        let doing = |error: git2::Error| failed("read an older revision", &error);
        let commit = self.commit(commit)?;
        let mut files = BTreeMap::new();
        let mut visit = |folder: &str, entry: &git2::TreeEntry<'_>| {
            if entry.kind() == Some(ObjectType::Blob)
                && let Ok(name) = entry.name()
            {
                files.insert(Utf8PathBuf::from(format!("{folder}{name}")), entry.id());
            }
            TreeWalkResult::Ok
        };
        commit
            .tree()
            .and_then(|tree| tree.walk(TreeWalkMode::PreOrder, |folder, entry| visit(folder, entry)))
            .map_err(doing)?;
        Ok(files)
    }
}

fn blob_of(commit: &git2::Commit<'_>, path: &Utf8Path) -> Result<Option<Oid>, Diagnostic> {
    let tree = commit.tree().map_err(|e| failed("read an older revision", &e))?;
    match tree.get_path(path.as_std_path()) {
        Ok(entry) => Ok((entry.kind() == Some(ObjectType::Blob)).then(|| entry.id())),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(failed("read an older revision", &error)),
    }
}
