//! A component's folder: its files as bytes, and their digest.

use std::borrow::Cow;
use std::collections::BTreeMap;

use camino::Utf8Path;
use sha2::{Digest, Sha256};

/// The name of the file that makes a folder a component.
pub const COMPONENT_FILE: &str = "component.yaml";

/// The files of one component by path relative to its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    pub files: BTreeMap<String, Cow<'static, [u8]>>,
}

/// Paths and contents of a folder in the binary.
type BuiltInFiles = &'static [(&'static str, &'static [u8])];

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

impl Folder {
    /// The folders built into the binary.
    pub fn built_in() -> BTreeMap<String, Folder> {
        let folder = |files: BuiltInFiles| Folder {
            files: files.iter().map(|(path, bytes)| ((*path).to_owned(), Cow::Borrowed(*bytes))).collect(),
        };
        BUILT_IN.iter().map(|(kind, files)| ((*kind).to_owned(), folder(files))).collect()
    }

    /// The component folders directly below `root`; a missing `root` has none.
    pub fn below(root: &Utf8Path) -> std::io::Result<BTreeMap<String, Folder>> {
        let mut folders = BTreeMap::new();
        if !root.is_dir() {
            return Ok(folders);
        }
        for entry in root.read_dir_utf8()? {
            let entry = entry?;
            if entry.path().join(COMPONENT_FILE).is_file() {
                folders.insert(entry.file_name().to_owned(), Folder::read(entry.path())?);
            }
        }
        Ok(folders)
    }

    /// Reads one folder with everything below it.
    pub fn read(root: &Utf8Path) -> std::io::Result<Folder> {
        let mut folder = Folder::default();
        let mut waiting = vec![root.to_owned()];
        while let Some(directory) = waiting.pop() {
            for entry in directory.read_dir_utf8()? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    waiting.push(entry.path().to_owned());
                } else if entry.file_type()?.is_file() {
                    let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
                    folder.files.insert(relative.to_string(), Cow::Owned(fs_err::read(entry.path())?));
                }
            }
        }
        Ok(folder)
    }

    /// `sha256:…` over paths and contents, the same on every machine.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (path, bytes) in &self.files {
            hash.update((path.len() as u64).to_be_bytes());
            hash.update(path.as_bytes());
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        format!("sha256:{}", hex(&hash.finalize()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
