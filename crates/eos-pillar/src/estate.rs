//! An estate on disk: found, locked, recovered, changed.

use std::collections::{BTreeMap, BTreeSet};
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

/// An estate whose files hold still while this value lives.
pub struct Estate {
    pub root: Utf8PathBuf,
    pub file: EstateFile,
    pub lock: LockFile,
    pub git: Git,
    /// The commit whose files were read: a change is made on top of it and of nothing else.
    pub(crate) base: Option<git2::Oid>,
    pub(crate) _guard: Option<Guard>,
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
            Diagnostic::error(
                codes::NO_ESTATE,
                format!("there is no estate here: neither this folder nor one above it has {ESTATE_FILE}"),
            )
            .fix("eos -C DIR … where the estate is in DIR; or make one: eos init shop && cd shop")
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
        estate.refuse_detached()?;
        estate.refuse_dirty()?;
        Ok(estate)
    }

    /// Opens for writing what can be made again: one at a time, and the files may be somebody's unfinished edit.
    pub fn open_for_build(root: &Utf8Path) -> Result<Estate, Diagnostics> {
        let guard = lock(root, FlockOperation::LockExclusive)?;
        recover(root, &Git::open(root)?)?;
        Estate::read(root, Some(guard))
    }

    fn read(root: &Utf8Path, guard: Option<Guard>) -> Result<Estate, Diagnostics> {
        let mut found = Diagnostics::new();
        // Recovering from an `eos init` that was cut off may have taken the estate away.
        Estate::find_root(root)?;
        let git = Git::open(root)?;
        let base = git.head()?;
        let text = |name: &str| -> Result<String, Diagnostic> {
            let missing = || {
                let why = if name == LOCK_FILE {
                    "it says which compiler and which kinds the estate was made with"
                } else {
                    "it says which environments there are and where their servers are"
                };
                Diagnostic::error(codes::BAD_ESTATE_FILE, format!("{name} is missing"))
                    .why(why)
                    .fix(format!("bring it back: git log -- {name} shows the last commit that had it"))
            };
            let bytes = files::read(root, Utf8Path::new(name))?.ok_or_else(missing)?;
            String::from_utf8(bytes).map_err(|_| {
                Diagnostic::error(codes::NOT_UTF8, format!("{name} is not valid UTF-8"))
                    .fix(format!("git log -p {name} shows what it was before"))
            })
        };
        let mut keep = |diagnostic: Diagnostic| found.push(diagnostic);
        let file = text(ESTATE_FILE).and_then(|text| EstateFile::parse(&text)).map_err(&mut keep).ok();
        let lock = text(LOCK_FILE).and_then(|text| LockFile::parse(&text)).map_err(&mut keep).ok();
        match (file, lock) {
            (Some(file), Some(lock)) => {
                Ok(Estate { root: root.to_owned(), file, lock, git, base, _guard: guard })
            }
            _ => Err(found),
        }
    }

    /// Lets other commands at the estate while a person decides or a run goes on.
    pub fn release(&mut self) {
        self._guard = None;
    }

    /// Takes the estate back for a change. What was read must still be what is there: a plan was made of it.
    pub fn take_back(&mut self) -> Result<(), Diagnostics> {
        let guard = lock(&self.root, FlockOperation::LockExclusive)?;
        recover(&self.root, &self.git)?;
        if self.git.head()? != self.base {
            return Err(Diagnostic::error(
                codes::HEAD_MOVED,
                "the estate was changed by somebody else in the meantime",
            )
            .why("what was shown was planned on the estate as it was before")
            .fix("run the command again: it plans on what is there now")
            .into());
        }
        self.refuse_dirty()?;
        self._guard = Some(guard);
        Ok(())
    }

    /// What its states are kept under at a backend that is shared.
    pub fn state_key(&self) -> &str {
        self.lock.state_key.as_deref().unwrap_or(&self.file.name)
    }

    /// The commit whose files were read.
    pub fn commit_id(&self) -> Option<String> {
        self.base.map(|base| base.to_string())
    }

    pub fn tree(&self) -> Result<Tree, Diagnostics> {
        Tree::read(&self.root)
    }

    /// A commit that no branch holds is lost with the next checkout.
    fn refuse_detached(&self) -> Result<(), Diagnostic> {
        if self.git.branch() != "HEAD" {
            return Ok(());
        }
        Err(Diagnostic::error(codes::DETACHED, "the estate's repository is on no branch (detached HEAD)")
            .why("a change recorded there would belong to no branch, and git forgets such commits")
            .fix("go back to your branch (git switch -, or git switch main); to go on from here: git switch -c <name>"))
    }

    fn refuse_dirty(&self) -> Result<(), Diagnostics> {
        let uncommitted = self.git.uncommitted()?;
        if let Some((ignored, _)) = uncommitted.iter().find(|(_, is_ignored)| *is_ignored) {
            return Err(Diagnostic::error(
                codes::DIRTY_TREE,
                format!("{ignored} counts in the pillar, and git is told to ignore it"),
            )
            .why("what is compiled from it would be in no commit and in no other clone")
            .fix(format!("git add -f {ignored} && git commit; or move it out of pillar/ (git check-ignore -v {ignored} says who ignores it)"))
            .into());
        }
        let dirty: Vec<Utf8PathBuf> = uncommitted.into_iter().map(|(path, _)| path).collect();
        if dirty.is_empty() {
            return Ok(());
        }
        let shown: Vec<&str> = dirty.iter().take(5).map(|path| path.as_str()).collect();
        let more = dirty.len().saturating_sub(shown.len());
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        // By name: what else lies there, such as a plan that was kept, is not to be committed along.
        let add = match more {
            0 => format!("git add {}", shown.join(" ")),
            _ => {
                let tops: BTreeSet<&str> = dirty
                    .iter()
                    .filter_map(|path| path.components().next())
                    .map(|top| top.as_str())
                    .collect();
                format!("git add {}", tops.into_iter().collect::<Vec<_>>().join(" "))
            }
        };
        Err(Diagnostic::error(
            codes::DIRTY_TREE,
            format!("the estate has changes that are not committed: {}{rest}", shown.join(", ")),
        )
        .why("a command must not sweep somebody's unfinished edit into its own commit")
        .fix(format!("keep them ({add} && git commit) or put them aside (git stash -u), then run this again"))
        .into())
    }

    /// Records a change as one commit. After a crash anywhere in here the next command ends in the old or the new tree.
    pub fn commit(&mut self, change: &Change, trailers: &Trailers) -> Result<Option<String>, Diagnostics> {
        let Some(commit) = self.git.write_commit(self.base, change, trailers)? else { return Ok(None) };
        let branch = self.git.branch();
        let paths: Vec<Utf8PathBuf> = change.files.keys().cloned().collect();
        let base = self.base.map(|oid| oid.to_string());
        let before = self.in_no_commit(&paths)?;
        let record = IntentRecord::new(base, commit.to_string(), branch.clone(), paths.clone());
        record.keeping(before.clone()).write(&self.root)?;
        // Taken before anything is touched, so that a git at work stops the change; and after the intent is written, so
        // that the next command clears the lock of a killed one.
        let index = match self.git.lock_index() {
            Ok(index) => index,
            Err(diagnostic) => {
                IntentRecord::remove(&self.root)?;
                return Err(diagnostic.into());
            }
        };
        let published = self.git.publish(index, &branch, self.base, commit, &paths, trailers);
        let Err(diagnostic) = published else {
            // The change has happened; a record that stays is forgotten by the next command.
            let _ = IntentRecord::remove(&self.root);
            self.base = Some(commit);
            return Ok(Some(commit.to_string()));
        };
        let head = self.git.head()?;
        let before = if head == Some(commit) { BTreeMap::new() } else { before };
        let settled = self.git.settle(head, &paths, &before).and_then(|()| IntentRecord::remove(&self.root));
        if head == Some(commit) {
            // The branch has moved, so the change has happened; what is not settled is left to the next command.
            self.base = Some(commit);
            return Ok(Some(commit.to_string()));
        }
        let mut found = Diagnostics::from(diagnostic);
        found.0.extend(settled.err());
        Err(found)
    }

    /// The files among these that the last commit does not have as they are.
    fn in_no_commit(&self, paths: &[Utf8PathBuf]) -> Result<BTreeMap<Utf8PathBuf, Vec<u8>>, Diagnostic> {
        let mut found = BTreeMap::new();
        for path in paths {
            if let Some(bytes) = files::read(&self.root, path)?
                && self.git.blob(self.base, path)?.is_none_or(|(_, recorded)| recorded != bytes)
            {
                found.insert(path.clone(), bytes);
            }
        }
        Ok(found)
    }
}

/// Finishes or undoes the change that a killed command left behind. HEAD decides; only the files it names are touched.
pub(crate) fn recover(root: &Utf8Path, git: &Git) -> Result<(), Diagnostics> {
    let Some(record) = IntentRecord::read(root)? else { return Ok(()) };
    git.clear_locks(&record.branch)?;
    let head = git.head()?;
    let now = head.map(|oid| oid.to_string());
    if now.as_deref() == Some(&record.commit) {
        git.settle(head, &record.files, &BTreeMap::new())?;
    } else if now == record.base {
        git.settle(head, &record.files, &record.before)?;
    } else if git.dirty()?.iter().any(|path| record.files.contains(path)) {
        return Err(Diagnostic::error(
            codes::HEAD_MOVED,
            "a change was cut off and the branch was moved since",
        )
        .why(format!(
            "the change was {} on top of {}",
            record.commit,
            record.base.as_deref().unwrap_or("nothing")
        ))
        .fix(format!(
            "commit or drop what git status shows of: {}",
            record.files.iter().map(|path| path.as_str()).collect::<Vec<_>>().join(" ")
        ))
        .into());
    }
    // Otherwise somebody has settled it by hand.
    Ok(IntentRecord::remove(root)?)
}

pub(crate) fn lock(root: &Utf8Path, operation: FlockOperation) -> Result<Guard, Diagnostic> {
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
