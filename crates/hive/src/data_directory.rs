//! The data directory: nobody but its owner may look inside.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::HiveError;

#[derive(Debug, Clone)]
pub struct DataDirectory(PathBuf);

impl DataDirectory {
    pub fn open(path: &Path) -> Result<Self, HiveError> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(HiveError::file("make the directory", path))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
            .map_err(HiveError::file("close to others", path))?;
        let path = path.canonicalize().map_err(HiveError::file("find", path))?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn store(&self) -> PathBuf {
        self.file("store.redb")
    }

    pub fn socket(&self) -> PathBuf {
        self.file("control.sock")
    }

    pub fn read(&self, name: &str) -> Result<Option<String>, HiveError> {
        let path = self.file(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(HiveError::file("read", &path)(error)),
        }
    }

    /// Writes a file that only the owner can read: complete or not at all.
    pub fn write_private(&self, name: &str, text: &str) -> Result<(), HiveError> {
        let path = self.file(name);
        let draft = self.file(&format!(".{name}.new"));
        let write = || {
            // A draft of an interrupted start may have other permissions.
            let _ = fs::remove_file(&draft);
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        };
        write().map_err(HiveError::file("write", &path))
    }
}
