//! Writing files so that a reader sees the old or the new, never half of one.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use camino::Utf8Path;

use crate::TofuError;

/// Makes a folder and what is above it; only the owner may enter what is made.
pub(crate) fn private_folder(path: &Utf8Path) -> Result<(), TofuError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(TofuError::io(format!("make the folder {path}")))
}

/// Puts `bytes` at `path` unless they are there already. The new file is made in `staging`, on the same file system.
/// Says whether it wrote. Anything else in the way (a link, a folder) is removed: a link is never written through.
pub(crate) fn put(path: &Utf8Path, bytes: &[u8], staging: &Utf8Path) -> Result<bool, TofuError> {
    let failed = || TofuError::io(format!("write {path}"));
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {
            if found.len() == bytes.len() as u64 && std::fs::read(path).map_err(failed())? == bytes {
                return Ok(false);
            }
        }
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path).map_err(failed())?,
        Ok(_) => std::fs::remove_file(path).map_err(failed())?,
        Err(_) => {}
    }
    let mut file = tempfile::NamedTempFile::new_in(staging).map_err(failed())?;
    file.write_all(bytes).map_err(failed())?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed())?;
    file.persist(path).map_err(|error| failed()(error.error))?;
    Ok(true)
}

/// Makes `path` a link to `target`, replacing another link in one step.
pub(crate) fn link(path: &Utf8Path, target: &Utf8Path, staging: &Utf8Path) -> Result<(), TofuError> {
    let failed = || TofuError::io(format!("link {path} to {target}"));
    if std::fs::read_link(path).is_ok_and(|found| found == target.as_std_path()) {
        return Ok(());
    }
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        std::fs::remove_dir_all(path).map_err(failed())?;
    }
    let folder = tempfile::tempdir_in(staging).map_err(failed())?;
    let fresh = folder.path().join("link");
    std::os::unix::fs::symlink(target, &fresh).map_err(failed())?;
    std::fs::rename(&fresh, path).map_err(failed())
}

/// What identifies a file's content without reading it: where it is, its size and when it changed.
pub(crate) fn identity(path: &Utf8Path) -> String {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(path) {
        Ok(found) => format!(
            "{path} {} {} {} {}.{}",
            found.dev(),
            found.ino(),
            found.len(),
            found.mtime(),
            found.mtime_nsec()
        ),
        Err(_) => format!("{path} absent"),
    }
}
