//! The moment a commit happens: working files, branch and index become it.
//!
//! The branch and the index, whose locks would survive a `kill -9` and block the next command, are replaced under a
//! [`GitLock`], which the next command can tell as its own.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, codes};
use git2::{FileMode, Index, IndexEntry, IndexTime, Oid};

use crate::change::{Trailers, line};
use crate::files::{self, cannot_write};
use crate::git::{Git, STATE, failed, signed};
use crate::git_lock::{self, GitLock};

/// The first names of the locks on the index and the branch, in git's folder.
const OWN_INDEX: &str = "eos-index";
const OWN_BRANCH: &str = "eos-branch";

impl Git {
    /// Lets a written commit happen: files, branch and index become it. The branch decides; the caller has written
    /// down the intent, since a crash in here leaves files that are neither the old nor the new ones.
    pub(crate) fn publish(
        &self,
        index: GitLock,
        branch: &str,
        base: Option<Oid>,
        commit: Oid,
        paths: &[Utf8PathBuf],
        trailers: &Trailers,
    ) -> Result<(), Diagnostic> {
        self.restore(Some(commit), paths, &BTreeMap::new())?;
        self.move_branch(branch, base, commit, trailers)?;
        self.write_index(index, commit, paths)
    }

    /// Makes files and index what `head` says they are, for the paths named; files of `before` what they were.
    pub fn settle(
        &self,
        head: Option<Oid>,
        paths: &[Utf8PathBuf],
        before: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    ) -> Result<(), Diagnostic> {
        self.restore(head, paths, before)?;
        match head {
            Some(head) => self.write_index(self.lock_index()?, head, paths),
            None => Ok(()),
        }
    }

    /// Removes the locks that a killed eos held.
    pub fn clear_locks(&self, branch: &str) -> Result<(), Diagnostic> {
        git_lock::clear(&self.folder()?.join(OWN_BRANCH), &self.branch_file(branch)?);
        git_lock::clear(&self.folder()?.join(OWN_INDEX), &self.folder()?.join("index"));
        Ok(())
    }

    /// git's folder of this working tree.
    fn folder(&self) -> Result<&Utf8Path, Diagnostic> {
        Utf8Path::from_path(self.repository.path()).ok_or_else(|| not_utf8("the repository"))
    }

    /// Where a branch is kept: shared by all working trees, unless it is HEAD itself.
    fn branch_file(&self, branch: &str) -> Result<Utf8PathBuf, Diagnostic> {
        Ok(self.folder_of(branch)?.join(branch))
    }

    fn folder_of(&self, branch: &str) -> Result<&Utf8Path, Diagnostic> {
        if branch == "HEAD" {
            return self.folder();
        }
        Utf8Path::from_path(self.repository.commondir()).ok_or_else(|| not_utf8("the repository"))
    }

    pub(crate) fn lock_index(&self) -> Result<GitLock, Diagnostic> {
        let folder = self.folder()?;
        GitLock::take(folder.join(OWN_INDEX), folder.join("index"))
    }

    /// Makes the named working files what `before` or else `commit` says they are.
    fn restore(
        &self,
        commit: Option<Oid>,
        paths: &[Utf8PathBuf],
        before: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    ) -> Result<(), Diagnostic> {
        let mut written = Vec::new();
        for path in paths {
            let bytes = match before.get(path) {
                Some(bytes) => Some(bytes.clone()),
                None => self.blob(commit, path)?.map(|(_, bytes)| bytes),
            };
            match bytes {
                Some(bytes) => written.push((path.as_path(), bytes)),
                None => files::remove(&self.root, path)?,
            }
        }
        files::write_all(&self.root, &written)
    }

    /// Moves the branch from `from` to `to`; refused when somebody else moved it meanwhile.
    fn move_branch(
        &self,
        branch: &str,
        from: Option<Oid>,
        to: Oid,
        trailers: &Trailers,
    ) -> Result<(), Diagnostic> {
        let lock = GitLock::take(self.folder()?.join(OWN_BRANCH), self.branch_file(branch)?)?;
        if self.branch() != branch || self.head()? != from {
            return Err(Diagnostic::error(
                codes::HEAD_MOVED,
                format!("{branch} was moved by another program while eos was at work"),
            )
            .why("recording on top of a commit nobody looked at could undo somebody's work")
            .fix("run the command again"));
        }
        lock.publish(format!("{to}\n").as_bytes())?;
        let old = from.map_or_else(|| "0".repeat(40), |oid| oid.to_string());
        let (name, email) = signed(&trailers.author);
        let entry = format!(
            "{old} {to} {name} <{email}> {} +0000\teos: {}\n",
            trailers.time,
            line(&trailers.subject)
        );
        append(&self.folder()?.join("logs/HEAD"), &entry);
        if branch != "HEAD" {
            append(&self.folder_of(branch)?.join("logs").join(branch), &entry);
        }
        Ok(())
    }

    /// Makes the index agree with the working files named, whose content `commit` has.
    fn write_index(&self, lock: GitLock, commit: Oid, paths: &[Utf8PathBuf]) -> Result<(), Diagnostic> {
        let doing = |error: git2::Error| failed("update its index", &error);
        let index_path = self.folder()?.join("index");
        let draft = self.root.join(STATE).join("index.draft");
        for stale in [draft.clone(), Utf8PathBuf::from(format!("{draft}.lock"))] {
            let _ = fs_err::remove_file(stale);
        }
        if index_path.exists() {
            fs_err::copy(&index_path, &draft).map_err(|e| cannot_write(Utf8Path::new(".git/index"), &e))?;
        }
        let mut index = Index::open(draft.as_std_path()).map_err(doing)?;
        for path in paths {
            match self.blob(Some(commit), path)? {
                Some((id, bytes)) => index.add(&self.index_entry(path, id, bytes.len())).map_err(doing)?,
                None => index
                    .remove(path.as_std_path(), 0)
                    .or_else(
                        |error| if error.code() == git2::ErrorCode::NotFound { Ok(()) } else { Err(error) },
                    )
                    .map_err(doing)?,
            }
        }
        index.write().map_err(doing)?;
        let bytes = fs_err::read(&draft).map_err(|e| files::cannot_read(&draft, &e))?;
        let _ = fs_err::remove_file(&draft);
        lock.publish(&bytes)
    }

    fn index_entry(&self, path: &Utf8Path, id: Oid, length: usize) -> IndexEntry {
        let metadata = fs_err::metadata(self.root.join(path)).ok();
        let field = |read: fn(&std::fs::Metadata) -> u64| metadata.as_ref().map_or(0, |m| read(m) as u32);
        let time = |seconds: fn(&std::fs::Metadata) -> i64, nanos: fn(&std::fs::Metadata) -> i64| {
            metadata
                .as_ref()
                .map_or(IndexTime::new(0, 0), |m| IndexTime::new(seconds(m) as i32, nanos(m) as u32))
        };
        IndexEntry {
            ctime: time(MetadataExt::ctime, MetadataExt::ctime_nsec),
            mtime: time(MetadataExt::mtime, MetadataExt::mtime_nsec),
            dev: field(MetadataExt::dev),
            ino: field(MetadataExt::ino),
            mode: FileMode::Blob.into(),
            uid: field(|m| m.uid().into()),
            gid: field(|m| m.gid().into()),
            file_size: length as u32,
            id,
            flags: 0,
            flags_extended: 0,
            path: path.as_str().as_bytes().to_vec(),
        }
    }
}

fn not_utf8(what: &str) -> Diagnostic {
    Diagnostic::error(codes::GIT, format!("the path of {what} is not valid UTF-8"))
}

/// The reflog is a convenience: a failure to write it fails nothing.
fn append(path: &Utf8Path, line: &str) {
    if let Some(folder) = path.parent() {
        let _ = fs_err::create_dir_all(folder);
    }
    if let Ok(mut file) = fs_err::OpenOptions::new().create(true).append(true).open(path) {
        let _ = file.write_all(line.as_bytes());
    }
}
