//! The git side of an estate, through a library.
//!
//! Objects are written by libgit2. The two files whose locks would survive a `kill -9` and block the next command, the
//! branch and the index, are replaced by [`take_place`]: a crash leaves nothing that belongs to nobody.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, codes};
use git2::{FileMode, Index, IndexEntry, IndexTime, Oid, Repository, Signature, Time, build::TreeUpdateBuilder};

use crate::change::{Change, Trailers};
use crate::files::{self, cannot_write};

/// Where eos keeps its own files in an estate.
pub const STATE: &str = ".eos/state";
/// What of an estate is committed, and so must be clean before a change.
const RECORDED: &[&str] = &["catalog", "eos.lock", "eos.toml", "pillar", "secrets", "vendor"];

pub struct Git {
    pub(crate) repository: Repository,
    root: Utf8PathBuf,
}

pub(crate) fn failed(doing: &str, error: &git2::Error) -> Diagnostic {
    Diagnostic::error(codes::GIT, format!("git: cannot {doing}: {}", error.message()))
        .fix("git status in the estate shows its condition; nothing was recorded")
}

impl Git {
    /// Opens the repository of an estate, or makes it.
    pub fn init(root: &Utf8Path) -> Result<Git, Diagnostic> {
        let repository = match Repository::open(root) {
            Ok(repository) => repository,
            Err(_) => {
                let mut options = git2::RepositoryInitOptions::new();
                options.initial_head("main").external_template(false);
                Repository::init_opts(root, &options).map_err(|e| failed("make a repository", &e))?
            }
        };
        let mut config = repository.config().map_err(|e| failed("read its configuration", &e))?;
        // A recorded change must survive a power cut.
        config.set_bool("core.fsyncObjectFiles", true).map_err(|e| failed("write its configuration", &e))?;
        Ok(Git { repository, root: root.to_owned() })
    }

    pub fn open(root: &Utf8Path) -> Result<Git, Diagnostic> {
        let repository = Repository::open(root).map_err(|error| {
            failed("open the estate's repository", &error).fix("an estate is a git repository; git init makes it one again")
        })?;
        Ok(Git { repository, root: root.to_owned() })
    }

    /// The name and e-mail git is configured with, if any.
    pub fn identity(&self) -> Option<(String, String)> {
        let signature = self.repository.signature().ok()?;
        Some((signature.name().ok()?.to_owned(), signature.email().ok()?.to_owned()))
    }

    /// The current commit; none in a new repository.
    pub fn head(&self) -> Option<Oid> {
        self.repository.head().ok().and_then(|head| head.target())
    }

    /// What HEAD points at: a branch, or HEAD itself when detached.
    pub fn branch(&self) -> String {
        let symbolic = self.repository.find_reference("HEAD").ok();
        let target = symbolic.and_then(|head| head.symbolic_target().ok().flatten().map(str::to_owned));
        target.unwrap_or_else(|| "HEAD".to_owned())
    }

    /// Recorded files that differ from the last commit.
    pub fn dirty(&self) -> Result<Vec<Utf8PathBuf>, Diagnostic> {
        let mut options = git2::StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(false).exclude_submodules(true).no_refresh(true);
        for path in RECORDED {
            options.pathspec(path);
        }
        let statuses = self.repository.statuses(Some(&mut options)).map_err(|e| failed("read its status", &e))?;
        let path = |status: git2::StatusEntry<'_>| String::from_utf8_lossy(status.path_bytes()).into_owned();
        let mut paths: Vec<Utf8PathBuf> = statuses.iter().map(|status| path(status).into()).collect();
        // What a killed eos left half-written has a name of its own and is not the user's doing.
        paths.retain(|path| !path.as_str().ends_with(".eos-tmp"));
        Ok(paths)
    }

    /// Writes a commit with the change on top of `base`, without moving the branch. None when nothing would change.
    pub fn write_commit(&self, base: Option<Oid>, change: &Change, trailers: &Trailers) -> Result<Option<Oid>, Diagnostic> {
        let doing = |error: git2::Error| failed("record the change", &error);
        let parent = base.map(|base| self.repository.find_commit(base)).transpose().map_err(doing)?;
        let baseline = match &parent {
            Some(parent) => parent.tree().map_err(doing)?,
            None => {
                let empty = self.repository.treebuilder(None).and_then(|builder| builder.write()).map_err(doing)?;
                self.repository.find_tree(empty).map_err(doing)?
            }
        };
        let mut builder = TreeUpdateBuilder::new();
        for (path, content) in &change.files {
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
        let (name, email) = &trailers.author;
        let signature = Signature::new(name, email, &Time::new(trailers.time, 0)).map_err(doing)?;
        let tree = self.repository.find_tree(tree).map_err(doing)?;
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        let message = trailers.message();
        self.repository.commit(None, &signature, &signature, &message, &tree, &parents).map(Some).map_err(doing)
    }

    /// Makes the named working files what `commit` says they are.
    pub fn restore(&self, commit: Option<Oid>, paths: &[Utf8PathBuf]) -> Result<(), Diagnostic> {
        for path in paths {
            match self.blob(commit, path)? {
                Some((_, bytes)) => files::write(&self.root, path, &bytes)?,
                None => files::remove(&self.root, path)?,
            }
        }
        Ok(())
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

    /// Moves the branch from `from` to `to`; refused when somebody else moved it meanwhile.
    pub fn move_branch(&self, branch: &str, from: Option<Oid>, to: Oid, trailers_subject: &str, who: &(String, String), time: i64) -> Result<(), Diagnostic> {
        let folder = if branch == "HEAD" { self.repository.path() } else { self.repository.commondir() };
        let folder = Utf8Path::from_path(folder).ok_or_else(|| not_utf8("the repository"))?;
        let moved = || {
            Diagnostic::error(codes::HEAD_MOVED, format!("{branch} was moved by another program while eos was at work"))
                .why("recording on top of a commit nobody looked at could undo somebody's work")
                .fix("run the command again")
        };
        take_place(&self.root, &folder.join(branch), format!("{to}\n").as_bytes(), || {
            if self.head() == from { Ok(()) } else { Err(moved()) }
        })?;
        let old = from.map_or_else(|| "0".repeat(40), |oid| oid.to_string());
        let entry = format!("{old} {to} {} <{}> {time} +0000\teos: {trailers_subject}\n", who.0, who.1);
        for log in ["logs/HEAD".to_owned(), format!("logs/{branch}")] {
            append(&folder.join(log), &entry);
        }
        Ok(())
    }

    /// Makes the index agree with the working files named, whose content `commit` has.
    pub fn update_index(&self, commit: Oid, paths: &[Utf8PathBuf]) -> Result<(), Diagnostic> {
        let doing = |error: git2::Error| failed("update its index", &error);
        let git_folder = Utf8Path::from_path(self.repository.path()).ok_or_else(|| not_utf8("the repository"))?;
        let index_path = git_folder.join("index");
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
                None => index.remove(path.as_std_path(), 0).or_else(|error| if error.code() == git2::ErrorCode::NotFound { Ok(()) } else { Err(error) }).map_err(doing)?,
            }
        }
        index.write().map_err(doing)?;
        let bytes = fs_err::read(&draft).map_err(|e| files::cannot_read(&draft, &e))?;
        let _ = fs_err::remove_file(&draft);
        take_place(&self.root, &index_path, &bytes, || Ok(()))
    }

    fn index_entry(&self, path: &Utf8Path, id: Oid, length: usize) -> IndexEntry {
        let metadata = fs_err::metadata(self.root.join(path)).ok();
        let field = |read: fn(&std::fs::Metadata) -> u64| metadata.as_ref().map_or(0, |m| read(m) as u32);
        let time = |seconds: fn(&std::fs::Metadata) -> i64, nanos: fn(&std::fs::Metadata) -> i64| {
            metadata.as_ref().map_or(IndexTime::new(0, 0), |m| IndexTime::new(seconds(m) as i32, nanos(m) as u32))
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

/// Replaces a file of git's the way git does, through `<file>.lock`, after `check` has passed under that lock.
///
/// The lock is a second name of a file eos keeps in its own state. When eos dies in between, the next one sees by the
/// inode that the lock is its own and removes it; a lock of a running git is never touched.
fn take_place(root: &Utf8Path, target: &Utf8Path, content: &[u8], check: impl FnOnce() -> Result<(), Diagnostic>) -> Result<(), Diagnostic> {
    let shown = target.strip_prefix(root).unwrap_or(target).to_owned();
    let written = |error: &std::io::Error| cannot_write(&shown, error);
    let own = root.join(STATE).join("git.lock");
    let lock = Utf8PathBuf::from(format!("{target}.lock"));
    remove_own_lock(&own, &lock);
    let mut file = fs_err::File::create(&own).map_err(|e| written(&e))?;
    file.write_all(content).and_then(|()| file.sync_all()).map_err(|e| written(&e))?;
    if let Some(folder) = lock.parent() {
        fs_err::create_dir_all(folder).map_err(|e| written(&e))?;
    }
    fs_err::hard_link(&own, &lock).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Diagnostic::error(codes::GIT, format!("another git command holds {shown}.lock"))
            .why("two programs writing one git repository at once would damage it")
            .fix("wait for it to end; if none is running, remove the lock file by hand"),
        _ => written(&error),
    })?;
    let result = check().and_then(|()| fs_err::rename(&lock, target).map_err(|e| written(&e)));
    if result.is_err() {
        let _ = fs_err::remove_file(&lock);
    }
    let _ = fs_err::remove_file(&own);
    if let (Ok(()), Some(folder)) = (&result, target.parent()) {
        fs_err::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| written(&e))?;
    }
    result
}

fn remove_own_lock(own: &Utf8Path, lock: &Utf8Path) {
    let inode = |path: &Utf8Path| fs_err::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    if let (Some(ours), Some(theirs)) = (inode(own), inode(lock))
        && ours == theirs
    {
        let _ = fs_err::remove_file(lock);
    }
    let _ = fs_err::remove_file(own);
}
