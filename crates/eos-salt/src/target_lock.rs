//! Runs on one target come one after the other, whoever asks for them: two lock files for each target.
//!
//! One is held by whoever asks. The other is held by the Salt that works, which may outlive who asked: a state that is
//! being applied is finished when they are killed, and nothing may run beside it.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;

use crate::error::SaltError;
use crate::run::Stop;

/// How often somebody who waits looks again.
const EVERY: Duration = Duration::from_millis(50);

/// Held while a target is worked on; the kernel frees it with the process.
#[derive(Debug)]
pub(crate) struct TargetLock {
    _file: fs_err::File,
    /// What Salt locks while it works on the target.
    pub at_work: PathBuf,
}

impl TargetLock {
    /// Waits for the target to be free.
    pub fn take(folder: &Path, target: &str, stop: Stop<'_>) -> Result<TargetLock, SaltError> {
        fs_err::create_dir_all(folder).map_err(SaltError::files("make the folder", folder))?;
        let name = file_name(target);
        let file = wait_for(&folder.join(format!("salt-{name}.lock")), target, stop)?;
        let at_work = folder.join(format!("salt-{name}.at-work"));
        // Free again at once: from now on only a Salt that we ask takes it.
        drop(wait_for(&at_work, target, stop)?);
        Ok(TargetLock { _file: file, at_work })
    }
}

/// Opens and locks a file, once nobody else has it locked.
fn wait_for(path: &Path, target: &str, stop: Stop<'_>) -> Result<fs_err::File, SaltError> {
    let open = || fs_err::OpenOptions::new().create(true).append(true).open(path);
    let file = open().map_err(SaltError::files("open", path))?;
    loop {
        match rustix::fs::flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
            Err(error) => return Err(SaltError::files("lock", path)(error.into())),
        }
        if stop() {
            let rest = Some(format!("another run on {target} goes on, ours was not begun"));
            return Err(SaltError::Stopped { begun: false, rest });
        }
        std::thread::sleep(EVERY);
    }
}

/// A target as part of a file's name; two targets that look alike share a lock, which only costs time.
fn file_name(target: &str) -> String {
    target.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_after_the_other_and_others_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _lock = TargetLock::take(folder.path(), "web/1", &|| false).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    let _other = TargetLock::take(
                        folder.path(),
                        &format!("{:?}", std::thread::current().id()),
                        &|| false,
                    );
                    inside.fetch_sub(1, Ordering::SeqCst);
                    runs.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(runs.into_inner(), 8);
    }

    #[test]
    fn a_salt_that_outlived_who_asked_it_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let lock = TargetLock::take(folder.path(), "local", &|| false).unwrap();
        let salt = std::fs::File::open(&lock.at_work).unwrap();
        rustix::fs::flock(&salt, FlockOperation::LockExclusive).unwrap();
        drop(lock);
        let error = TargetLock::take(folder.path(), "local", &|| true).unwrap_err();
        assert!(matches!(error, SaltError::Stopped { begun: false, .. }), "{error}");
        drop(salt);
        TargetLock::take(folder.path(), "local", &|| true).unwrap();
    }

    #[test]
    fn whoever_waits_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let _held = TargetLock::take(folder.path(), "local", &|| false).unwrap();
        let asked = AtomicBool::new(false);
        let stop = || asked.swap(true, Ordering::SeqCst);
        let error = TargetLock::take(folder.path(), "local", &stop).unwrap_err();
        assert!(matches!(error, SaltError::Stopped { .. }), "{error}");
    }
}
