//! A private folder for Salt: 0700, gone when its owner is gone.
//!
//! Salt keeps rendered states in its cache, and these may hold secrets. A process that is killed cannot clean up, so each
//! folder has a lock that lives as long as whoever uses it, and the next one to make a folder sweeps those without.

use std::fs::Permissions;
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use crate::error::SaltError;
use crate::outputs_pillar::TERRAFORM_OUTPUTS;

const PREFIX: &str = "eos-salt-";
/// The lock; shared by everybody who uses the folder.
const OWNER: &str = "owner";

#[derive(Debug)]
pub(crate) struct PrivateFolder {
    folder: tempfile::TempDir,
    owner: fs_err::File,
}

impl PrivateFolder {
    pub fn make(parent: &Path) -> Result<PrivateFolder, SaltError> {
        sweep(parent);
        let make = || -> std::io::Result<PrivateFolder> {
            fs_err::create_dir_all(parent)?;
            let private = Permissions::from_mode(0o700);
            let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(parent)?;
            // Locked before it has its name: a sweeper never sees it free.
            let unnamed = folder.path().join("owner.new");
            let owner = fs_err::File::create(&unnamed)?;
            rustix::fs::flock(owner.as_fd(), FlockOperation::LockShared)?;
            fs_err::rename(&unnamed, folder.path().join(OWNER))?;
            let modules = folder.path().join("modules/pillar");
            fs_err::create_dir_all(&modules)?;
            fs_err::write(modules.join("terraform_outputs.py"), TERRAFORM_OUTPUTS)?;
            Ok(PrivateFolder { folder, owner })
        };
        make().map_err(SaltError::files("make a private folder in", parent))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf, SaltError> {
        let path = self.join(name);
        fs_err::write(&path, content).map_err(SaltError::files("write", &path))?;
        Ok(path)
    }

    /// The lock as a child's empty standard input: the folder then lives as long as the child.
    pub fn lock_for_child(&self) -> Result<std::fs::File, SaltError> {
        self.owner
            .try_clone()
            .map(fs_err::File::into_file)
            .map_err(SaltError::files("lock", self.join(OWNER)))
    }
}

/// Removes folders whose owner was killed.
pub fn sweep(parent: &Path) {
    for entry in fs_err::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Ok(owner) = fs_err::File::open(entry.path().join(OWNER)) else { continue };
        if rustix::fs::flock(owner.as_fd(), FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs_err::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_gone_with_its_owner() {
        let parent = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::make(parent.path()).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_owner_left_is_swept_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let used = PrivateFolder::make(parent.path()).unwrap();
        let held = used.lock_for_child().unwrap();
        for left in ["eos-salt-killed", "somebody-elses", "eos-salt-being-made"] {
            fs_err::create_dir_all(parent.path().join(left)).unwrap();
        }
        for left in ["eos-salt-killed/owner", "somebody-elses/owner"] {
            fs_err::write(parent.path().join(left), "").unwrap();
        }
        let _new = PrivateFolder::make(parent.path()).unwrap();
        assert!(used.path().exists());
        assert!(!parent.path().join("eos-salt-killed").exists());
        assert!(parent.path().join("somebody-elses").exists());
        assert!(parent.path().join("eos-salt-being-made").exists());
        // Its own process gone, a child still holds it.
        let path = used.path().to_owned();
        std::mem::forget(used.folder);
        drop(used.owner);
        drop(PrivateFolder::make(parent.path()).unwrap());
        assert!(path.exists());
        drop(held);
        drop(PrivateFolder::make(parent.path()).unwrap());
        assert!(!path.exists());
    }
}
