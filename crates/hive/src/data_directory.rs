//! The data directory: nobody but its owner may look inside.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::HiveError;

#[derive(Debug, Clone)]
pub struct DataDirectory(PathBuf);

/// A directory with one of these is Hive's, or is being made so: first by the draft of the keys, which becomes the keys.
const OWN: &[&str] =
    &[".credentials.json.new", "credentials.json", "gateway.lock", "gateway.log", "store.redb"];

impl DataDirectory {
    /// Makes it, or takes one that is empty or Hive's already: it is closed to others, which would do harm to a home.
    pub fn open(path: &Path) -> Result<Self, HiveError> {
        let foreign = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
            && !OWN.iter().any(|name| path.join(name).exists());
        if foreign {
            return Err(HiveError::Foreign(path.to_owned()));
        }
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

    /// One that may not be there, for whoever only reads.
    pub(crate) fn look(path: &Path) -> Self {
        Self(path.to_owned())
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

    /// Whoever has it changes the files of the directory alone, until it is dropped.
    pub(crate) fn lock(&self) -> Result<fs::File, HiveError> {
        let directory = fs::File::open(&self.0).map_err(HiveError::file("open", &self.0))?;
        directory.lock().map_err(HiveError::file("lock", &self.0))?;
        Ok(directory)
    }

    /// Takes away from others what was made with the permissions of the day.
    pub(crate) fn make_private(&self, path: &Path) -> Result<(), HiveError> {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(HiveError::file("close to others", path))
    }

    /// A new file that only the owner can read.
    pub fn create_private(&self, name: &str) -> Result<fs::File, HiveError> {
        let path = self.file(name);
        let open = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let file = open.map_err(HiveError::file("make", &path))?;
        self.make_private(&path)?;
        Ok(file)
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
