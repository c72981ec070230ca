//! An estate on disk: found, locked, recovered, changed.

use std::os::fd::AsFd as _;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, Diagnostics, codes};
use rustix::fs::FlockOperation;

use crate::change::{Change, Trailers};
use crate::estate_file::{ESTATE_FILE, EstateFile};
use crate::files;
use crate::git::{Git, STATE};
use crate::intent_record::{INTENT, IntentRecord};
use crate::lock_file::{LOCK_FILE, LockFile};
use crate::tree::Tree;

/// What git must not see: made again, or private to this clone.
pub const GITIGNORE: &str = "/.eos/\n/build/\n.*.eos-tmp\n";

/// An estate whose files hold still while this value lives.
pub struct Estate {
    pub root: Utf8PathBuf,
    pub file: EstateFile,
    pub lock: LockFile,
    pub git: Git,
    _guard: Option<Guard>,
}

/// A lock on an estate: shared for reading, exclusive for changing. Freed by the kernel when the process ends.
pub struct Guard {
    _file: fs_err::File,
}

impl Estate {
    /// The estate that `start` is in.
    pub fn find_root(start: &Utf8Path) -> Result<Utf8PathBuf, Diagnostic> {
        let found = start.ancestors().find(|folder| folder.join(ESTATE_FILE).is_file());
        found.map(Utf8Path::to_owned).ok_or_else(|| {
            Diagnostic::error(codes::NO_ESTATE, format!("there is no estate here: neither this folder nor one above it has {ESTATE_FILE}"))
                .fix("eos init shop && cd shop")
        })
    }

    /// Opens for reading: waits for a change under way and finishes one that was cut off.
    pub fn open(root: &Utf8Path) -> Result<Estate, Diagnostics> {
        let guard = lock(root, FlockOperation::LockShared).ok();
        if root.join(INTENT).exists() {
            drop(guard);
            let exclusive = lock(root, FlockOperation::LockExclusive)?;
            recover(root, &Git::open(root)?)?;
            return Estate::read(root, Some(exclusive));
        }
        Estate::read(root, guard)
    }

    /// Opens for changing: one command at a time, others wait here.
    pub fn open_for_change(root: &Utf8Path) -> Result<Estate, Diagnostics> {
        let guard = lock(root, FlockOperation::LockExclusive)?;
        recover(root, &Git::open(root)?)?;
        let estate = Estate::read(root, Some(guard))?;
        estate.refuse_dirty()?;
        Ok(estate)
    }

    fn read(root: &Utf8Path, guard: Option<Guard>) -> Result<Estate, Diagnostics> {
        let mut found = Diagnostics::new();
        let git = Git::open(root)?;
        let text = |name: &str| -> Result<String, Diagnostic> {
            let bytes = files::read(root, Utf8Path::new(name))?.unwrap_or_default();
            String::from_utf8(bytes).map_err(|_| Diagnostic::error(codes::NOT_UTF8, format!("{name} is not valid UTF-8")))
        };
        let mut keep = |diagnostic: Diagnostic| found.push(diagnostic);
        let file = text(ESTATE_FILE).and_then(|text| EstateFile::parse(&text)).map_err(&mut keep).ok();
        let lock = text(LOCK_FILE).and_then(|text| LockFile::parse(&text)).map_err(&mut keep).ok();
        match (file, lock) {
            (Some(file), Some(lock)) => Ok(Estate { root: root.to_owned(), file, lock, git, _guard: guard }),
            _ => Err(found),
        }
    }

    /// Makes an estate in `root` and commits it.
    pub fn init(root: &Utf8Path, file: &EstateFile, lock_file: &LockFile, mut first: Change, trailers: &Trailers) -> Result<Estate, Diagnostics> {
        if root.join(ESTATE_FILE).exists() {
            return Err(Diagnostic::error(codes::ESTATE_EXISTS, format!("{root} is an estate already"))
                .fix(format!("cd {root} && eos list"))
                .into());
        }
        fs_err::create_dir_all(root.join(STATE)).map_err(|e| files::cannot_write(root, &e))?;
        let git = Git::init(root)?;
        let guard = lock(root, FlockOperation::LockExclusive)?;
        first.write(ESTATE_FILE, file.write());
        first.write(LOCK_FILE, lock_file.write());
        first.write(".gitignore", GITIGNORE);
        first.write("pillar/top.sls", crate::top::top_file(file.environments.keys()));
        for env in std::iter::once("common").chain(file.environments.keys().map(|env| env.as_str())) {
            let what = if env == "common" { "every environment".to_owned() } else { format!("the environment {env}") };
            let text = format!("#!yaml\n# Pillar of {what}. Yours to edit; eos writes files of its own beside it.\n{{}}\n");
            first.write(format!("pillar/infrastructure/{env}/init.sls"), text);
        }
        let mut estate = Estate { root: root.to_owned(), file: file.clone(), lock: lock_file.clone(), git, _guard: Some(guard) };
        estate.commit(&first, trailers)?;
        Ok(estate)
    }

    pub fn tree(&self) -> Result<Tree, Diagnostics> {
        Tree::read(&self.root)
    }

    fn refuse_dirty(&self) -> Result<(), Diagnostics> {
        let dirty = self.git.dirty()?;
        if dirty.is_empty() {
            return Ok(());
        }
        let shown: Vec<&str> = dirty.iter().take(5).map(|path| path.as_str()).collect();
        let more = dirty.len().saturating_sub(shown.len());
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        Err(Diagnostic::error(codes::DIRTY_TREE, format!("the estate has changes that are not committed: {}{rest}", shown.join(", ")))
            .why("a command must not sweep somebody's unfinished edit into its own commit")
            .fix("commit them (git commit -a) or drop them (git checkout .), then run the command again")
            .into())
    }

    /// Records a change as one commit. After a crash anywhere in here the next command ends in the old or the new tree.
    pub fn commit(&mut self, change: &Change, trailers: &Trailers) -> Result<Option<String>, Diagnostics> {
        let base = self.git.head();
        let Some(commit) = self.git.write_commit(base, change, trailers)? else { return Ok(None) };
        let paths: Vec<Utf8PathBuf> = change.files.keys().cloned().collect();
        let record = IntentRecord::new(base.map(|oid| oid.to_string()), commit.to_string(), paths.clone());
        record.write(&self.root)?;
        let recorded = self
            .git
            .restore(Some(commit), &paths)
            .and_then(|()| self.git.move_branch(&self.git.branch(), base, commit, &trailers.subject, &trailers.author, trailers.time));
        if let Err(diagnostic) = recorded {
            // The branch did not move: put the files back and forget the intent.
            let undone = self.git.restore(base, &paths).and_then(|()| IntentRecord::remove(&self.root));
            let mut found = Diagnostics::from(diagnostic);
            found.0.extend(undone.err());
            return Err(found);
        }
        self.git.update_index(commit, &paths)?;
        IntentRecord::remove(&self.root)?;
        Ok(Some(commit.to_string()))
    }
}

/// Finishes or undoes the change that a killed command left behind. HEAD decides; only the files it names are touched.
fn recover(root: &Utf8Path, git: &Git) -> Result<(), Diagnostics> {
    let Some(record) = IntentRecord::read(root)? else { return Ok(()) };
    let head = git.head();
    let now = head.map(|oid| oid.to_string());
    if now.as_deref() != Some(&record.commit) && now != record.base {
        return Err(Diagnostic::error(codes::HEAD_MOVED, "a change was cut off and the branch was moved since")
            .why(format!("the change was {} on top of {}", record.commit, record.base.as_deref().unwrap_or("nothing")))
            .fix(format!("look at git log and git status, then remove {INTENT}"))
            .into());
    }
    git.restore(head, &record.files)?;
    if let Some(head) = head {
        git.update_index(head, &record.files)?;
    }
    Ok(IntentRecord::remove(root)?)
}

fn lock(root: &Utf8Path, operation: FlockOperation) -> Result<Guard, Diagnostic> {
    let relative = Utf8Path::new(STATE).join("lock");
    let path = root.join(&relative);
    let open = || {
        fs_err::create_dir_all(root.join(STATE))?;
        fs_err::OpenOptions::new().create(true).append(true).open(&path)
    };
    let file = open().map_err(|error| files::cannot_write(&relative, &error))?;
    loop {
        match rustix::fs::flock(file.as_fd(), operation) {
            Ok(()) => return Ok(Guard { _file: file }),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(files::cannot_write(&relative, &error.into())),
        }
    }
}
