//! The git side of an estate, through a library.
//!
//! Reading, and writing objects: libgit2 writes them and they are flushed here. Files, branch and index are moved to a
//! written commit in [`crate::git_publish`].

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, codes};
use git2::{FileMode, Oid, Repository, Signature, Time, build::TreeUpdateBuilder};

use crate::change::{Change, Trailers, line};
use crate::files::{self, cannot_write};
use crate::top::PILLAR;

/// Where eos keeps its own files in an estate.
pub const STATE: &str = ".eos/state";
/// What of an estate is committed, and so must be clean before a change.
const RECORDED: &[&str] = &["catalog", "eos.lock", "eos.toml", "pillar", "secrets", "vendor"];

pub struct Git {
    pub(crate) repository: Repository,
    pub(crate) root: Utf8PathBuf,
}

pub(crate) fn failed(doing: &str, error: &git2::Error) -> Diagnostic {
    // libgit2 has no code for these.
    let fix = if error.message().contains("No space left") {
        "free some space on the disk, then run the command again; nothing was recorded"
    } else if error.message().contains("unsupported mandatory extension: 'link'") {
        "eos reads no split index: git config core.splitIndex false && git update-index --no-split-index"
    } else {
        "git status in the estate shows its condition; nothing was recorded"
    };
    Diagnostic::error(codes::GIT, format!("git: cannot {doing}: {}", error.message())).fix(fix)
}

impl Git {
    /// Opens the repository of an estate, or makes it: aside first, since libgit2 takes locks on the way that a killed
    /// eos would leave behind.
    pub fn init(root: &Utf8Path) -> Result<Git, Diagnostic> {
        match Repository::open(root) {
            Err(error) if error.code() == git2::ErrorCode::NotFound => {}
            _ => return Git::open(root),
        }
        let written = |error: std::io::Error| cannot_write(Utf8Path::new(".git"), &error);
        let aside = root.join(STATE).join("new-repository");
        if aside.exists() {
            fs_err::remove_dir_all(&aside).map_err(written)?;
        }
        let mut options = git2::RepositoryInitOptions::new();
        options.initial_head("main").external_template(false).mkpath(true);
        Repository::init_opts(&aside, &options).map_err(|e| failed("make a repository", &e))?;
        fs_err::rename(aside.join(".git"), root.join(".git"))
            .and_then(|()| fs_err::remove_dir(&aside))
            .map_err(written)?;
        Git::open(root)
    }

    pub fn open(root: &Utf8Path) -> Result<Git, Diagnostic> {
        let repository = Repository::open(root).map_err(|error| {
            let fix = match error.code() {
                git2::ErrorCode::Owner => format!("run eos as the owner, or trust it: git config --global --add safe.directory {root}"),
                // Nothing is wrong with the estate.
                _ if error.class() == git2::ErrorClass::Config => "git's own settings must be readable and sound; where they are in the home of somebody else, set HOME to your own".to_owned(),
                _ => "bring .git back from a clone or a backup; or start a new history: git init && git add -A && git commit".to_owned(),
            };
            failed("open the estate's repository", &error).why("an estate is a git repository: its history is who did what").fix(fix)
        })?;
        Ok(Git { repository, root: root.to_owned() })
    }

    /// The name and e-mail git is configured with, if any.
    pub fn identity(&self) -> Option<(String, String)> {
        let signature = self.repository.signature().ok()?;
        Some((signature.name().ok()?.to_owned(), signature.email().ok()?.to_owned()))
    }

    /// The current commit; none in a new repository. A branch that cannot be read is not a new one.
    pub fn head(&self) -> Result<Option<Oid>, Diagnostic> {
        match self.repository.head() {
            Ok(head) => Ok(head.target()),
            Err(error) if error.code() == git2::ErrorCode::UnbornBranch => Ok(None),
            Err(error) => Err(failed("read its branch", &error)),
        }
    }

    /// What HEAD points at: a branch, or HEAD itself when detached.
    pub fn branch(&self) -> String {
        let symbolic = self.repository.find_reference("HEAD").ok();
        let target = symbolic.and_then(|head| head.symbolic_target().ok().flatten().map(str::to_owned));
        target.unwrap_or_else(|| "HEAD".to_owned())
    }

    /// Recorded files that differ from the last commit.
    pub fn dirty(&self) -> Result<Vec<Utf8PathBuf>, Diagnostic> {
        Ok(self.uncommitted()?.into_iter().map(|(path, _)| path).collect())
    }

    /// The same, and whether git was told to ignore each: a pillar file counts all the same, and no commit has it.
    pub(crate) fn uncommitted(&self) -> Result<Vec<(Utf8PathBuf, bool)>, Diagnostic> {
        let mut options = git2::StatusOptions::new();
        options
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_ignored(true)
            .recurse_ignored_dirs(true)
            .exclude_submodules(true)
            // Without it everything is walked, build/ as well, and each path is held against the list afterwards.
            .disable_pathspec_match(true)
            .no_refresh(true);
        for path in RECORDED {
            options.pathspec(path);
        }
        let statuses =
            self.repository.statuses(Some(&mut options)).map_err(|e| failed("read its status", &e))?;
        let path = |status: &git2::StatusEntry<'_>| -> Utf8PathBuf {
            String::from_utf8_lossy(status.path_bytes()).into_owned().into()
        };
        let is_read = |path: &Utf8Path| {
            path.starts_with(PILLAR)
                && path.extension() == Some("sls")
                && !path.iter().any(|part| part.starts_with('.'))
        };
        let found = statuses.iter().map(|status| (path(&status), status.status().is_ignored()));
        let mut found: Vec<_> = found.filter(|(path, is_ignored)| !is_ignored || is_read(path)).collect();
        // What a killed eos left half-written has a name of its own and is not the user's doing.
        found.retain(|(path, _)| !path.as_str().ends_with(".eos-tmp"));
        Ok(found)
    }

    /// Writes a commit with the change on top of `base`, without moving the branch. None when nothing would change.
    pub fn write_commit(
        &self,
        base: Option<Oid>,
        change: &Change,
        trailers: &Trailers,
    ) -> Result<Option<Oid>, Diagnostic> {
        let doing = |error: git2::Error| failed("record the change", &error);
        let parent = base.map(|base| self.repository.find_commit(base)).transpose().map_err(doing)?;
        let baseline = match &parent {
            Some(parent) => parent.tree().map_err(doing)?,
            None => {
                let empty =
                    self.repository.treebuilder(None).and_then(|builder| builder.write()).map_err(doing)?;
                self.repository.find_tree(empty).map_err(doing)?
            }
        };
        let mut builder = TreeUpdateBuilder::new();
        for (path, content) in &change.files {
            files::folders_stay_inside(&self.root, path)?;
            match content {
                Some(bytes) => {
                    let blob = self.repository.blob(bytes).map_err(doing)?;
                    builder.upsert(path.as_str(), blob, FileMode::Blob);
                }
                None if baseline.get_path(path.as_std_path()).is_ok() => {
                    builder.remove(path.as_str());
                }
                None => {}
            }
        }
        let tree = builder.create_updated(&self.repository, &baseline).map_err(doing)?;
        if parent.is_some() && tree == baseline.id() {
            return Ok(None);
        }
        let (name, email) = signed(&trailers.author);
        let signature = Signature::new(&name, &email, &Time::new(trailers.time, 0)).map_err(doing)?;
        let tree = self.repository.find_tree(tree).map_err(doing)?;
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        let commit = self
            .repository
            .commit(None, &signature, &signature, &trailers.message(), &tree, &parents)
            .map_err(doing)?;
        self.flush(commit, &tree, change).map_err(|e| cannot_write(Utf8Path::new(".git/objects"), &e))?;
        Ok(Some(commit))
    }

    /// Brings a commit's new objects to the disk: a recorded change survives a power cut, in a clone as well.
    fn flush(&self, commit: Oid, tree: &git2::Tree<'_>, change: &Change) -> std::io::Result<()> {
        let mut ids = BTreeSet::from([commit, tree.id()]);
        for path in
            change.files.keys().flat_map(|path| path.ancestors()).filter(|path| !path.as_str().is_empty())
        {
            ids.extend(tree.get_path(path.as_std_path()).map(|entry| entry.id()));
        }
        let objects = Utf8PathBuf::from_path_buf(self.repository.commondir().join("objects"))
            .map_err(|_| std::io::Error::other("the repository's path is not valid UTF-8"))?;
        let mut new = BTreeSet::from([objects.clone()]);
        for id in ids.iter().map(Oid::to_string) {
            let folder = objects.join(&id[..2]);
            let object = folder.join(&id[2..]);
            // What is packed was there before.
            if object.is_file() {
                new.extend([folder, object]);
            }
        }
        files::sync(new.iter().map(|path| path.as_path())).map_err(|(_, error)| error)
    }

    /// A file as a commit has it.
    pub fn blob(&self, commit: Option<Oid>, path: &Utf8Path) -> Result<Option<(Oid, Vec<u8>)>, Diagnostic> {
        let doing = |error: git2::Error| failed("read a recorded file", &error);
        let Some(commit) = commit else { return Ok(None) };
        let tree = self.repository.find_commit(commit).and_then(|commit| commit.tree()).map_err(doing)?;
        let Ok(entry) = tree.get_path(path.as_std_path()) else { return Ok(None) };
        let blob = self.repository.find_blob(entry.id()).map_err(doing)?;
        Ok(Some((entry.id(), blob.content().to_vec())))
    }
}

/// An author as git takes it: no brackets, no line break, never empty.
pub(crate) fn signed((name, email): &(String, String)) -> (String, String) {
    let clean = |text: &str| -> String {
        let kept = line(text).replace(['<', '>'], " ");
        let kept = kept.trim();
        if kept.is_empty() { "eos".to_owned() } else { kept.to_owned() }
    };
    (clean(name), clean(email))
}
