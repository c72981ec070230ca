//! `build/`: what the compiler gave, brought to disk. Only what differs is written; what is gone goes away.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::{Diagnostic, EnvName};
use eos_pillar::files;

/// What a build folder has that the compiler did not give, and the other way round.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub added: Vec<Utf8PathBuf>,
    pub changed: Vec<Utf8PathBuf>,
    pub removed: Vec<Utf8PathBuf>,
    pub same: usize,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    pub fn count(&self) -> usize {
        self.added.len() + self.changed.len() + self.removed.len()
    }
}

/// Compares an environment's build folder with what the compiler gave.
pub fn compare(root: &Utf8Path, env: &EnvName, wanted: &BTreeMap<Utf8PathBuf, Vec<u8>>) -> Difference {
    let mut difference = Difference::default();
    for (path, content) in wanted {
        match fs_err::read(root.join(path)) {
            Ok(found) if found == *content => difference.same += 1,
            Ok(_) => difference.changed.push(path.clone()),
            Err(_) => difference.added.push(path.clone()),
        }
    }
    let known: BTreeSet<&Utf8Path> = wanted.keys().map(|path| path.as_path()).collect();
    let folder = Utf8Path::new("build").join(env.as_str());
    difference.removed = below(root, &folder).into_iter().filter(|path| !known.contains(path.as_path())).collect();
    difference
}

/// Brings an environment's build folder to what the compiler gave.
pub fn sync(root: &Utf8Path, env: &EnvName, wanted: &BTreeMap<Utf8PathBuf, Vec<u8>>) -> Result<Difference, Diagnostic> {
    let difference = compare(root, env, wanted);
    for path in difference.added.iter().chain(&difference.changed) {
        files::write_cache(root, path, &wanted[path])?;
    }
    for path in &difference.removed {
        files::remove(root, path)?;
    }
    Ok(difference)
}

/// Files of ours below a folder; what tofu keeps there (`.terraform`, its lock) is not ours.
fn below(root: &Utf8Path, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = root.join(&folder).read_dir_utf8() else { continue };
        for entry in entries.flatten().filter(|entry| !entry.file_name().starts_with('.')) {
            let path = folder.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) { waiting.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
