//! Locks of git's own kind, `<file>.lock`, that a `kill -9` does not leave behind for good.
//!
//! A lock is a second name of a file that eos keeps in git's folder. When eos dies in between, the next eos sees by the
//! inode that the lock is its own and removes it; a lock of another program is never touched. Whoever takes or clears
//! one holds the estate's lock, so there is one eos at a time.

use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, codes};

use crate::files::cannot_write;

/// git holds its locks for milliseconds; one that stays belongs to somebody at work, or to nobody.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// A held lock; dropping it without [`GitLock::publish`] leaves the target as it was.
pub struct GitLock {
    own: Utf8PathBuf,
    lock: Utf8PathBuf,
    target: Utf8PathBuf,
    file: fs_err::File,
}

impl GitLock {
    /// Locks `target`. `own` is on the same file system and is used for this one target.
    pub fn take(own: Utf8PathBuf, target: Utf8PathBuf) -> Result<GitLock, Diagnostic> {
        clear(&own, &target);
        let failed = |error: &std::io::Error| cannot_write(shown(&target), error);
        // Never an existing file: it could be a second name of the target itself.
        let file =
            fs_err::OpenOptions::new().write(true).create_new(true).open(&own).map_err(|e| failed(&e))?;
        let lock = lock_of(&target);
        if let Some(folder) = lock.parent() {
            fs_err::create_dir_all(folder).map_err(|e| failed(&e))?;
        }
        let mut tries = 0;
        loop {
            match fs_err::hard_link(&own, &lock) {
                Ok(()) => return Ok(GitLock { own, lock, target, file }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(error) => {
                    let _ = fs_err::remove_file(&own);
                    return Err(if error.kind() == ErrorKind::AlreadyExists {
                        held(&lock)
                    } else {
                        failed(&error)
                    });
                }
            }
        }
    }

    /// Gives the target its new content, all of it or none.
    pub fn publish(mut self, content: &[u8]) -> Result<(), Diagnostic> {
        let failed = |error: &std::io::Error| cannot_write(shown(&self.target), error);
        self.file.write_all(content).and_then(|()| self.file.sync_all()).map_err(|e| failed(&e))?;
        fs_err::rename(&self.lock, &self.target).map_err(|e| failed(&e))?;
        let folder = self.target.parent().unwrap_or(&self.target);
        fs_err::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| failed(&e))
    }
}

impl Drop for GitLock {
    fn drop(&mut self) {
        clear(&self.own, &self.target);
    }
}

/// Removes what a killed eos left of its lock on `target`.
pub fn clear(own: &Utf8Path, target: &Utf8Path) {
    let inode = |path: &Utf8Path| {
        fs_err::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
    };
    let lock = lock_of(target);
    if let Some(ours) = inode(own) {
        if inode(&lock) == Some(ours) {
            let _ = fs_err::remove_file(&lock);
        }
        let _ = fs_err::remove_file(own);
    }
}

fn lock_of(target: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{target}.lock"))
}

fn held(lock: &Utf8Path) -> Diagnostic {
    Diagnostic::error(codes::GIT, format!("another git command holds {}", shown(lock)))
        .why("two programs writing one git repository at once would damage it")
        .fix(format!("wait for it to end and run this again; if no git is running: rm {}", shown(lock)))
}

/// From `.git` on: what is above it differs from machine to machine.
fn shown(path: &Utf8Path) -> &Utf8Path {
    let inside = path.as_str().rfind("/.git/").map(|at| &path.as_str()[at + 1..]);
    inside.map_or(path, Utf8Path::new)
}
