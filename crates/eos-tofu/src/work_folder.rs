//! The folder tofu runs in: exactly a unit's compiled bytes, whatever was there before.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use eos_model::UnitId;

use crate::files::{private_folder, put};
use crate::unsaved::UNSAVED_STATE;
use crate::{Places, TofuError};

/// A unit's compiled bytes by path below the unit; what starts with `modules/` is a shared module.
pub type UnitFiles = BTreeMap<Utf8PathBuf, Vec<u8>>;

/// The dependency lock file, which tofu itself keeps.
pub(crate) const LOCK_FILE: &str = ".terraform.lock.hcl";

/// A filled folder and the data folder that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFolder {
    pub(crate) unit: UnitId,
    pub(crate) dir: Utf8PathBuf,
    pub(crate) data_dir: Utf8PathBuf,
    /// The shared modules this unit was filled with.
    pub(crate) modules: Vec<Utf8PathBuf>,
    /// Where a state is kept that the backend did not take.
    pub(crate) unsaved: Utf8PathBuf,
}

impl WorkFolder {
    /// Brings the unit's folder to exactly these files; the dependency lock file stays, and so does a state that could
    /// not be saved. A crash half-way is repaired by the next fill. Different units may be filled at the same time.
    pub fn fill(places: &Places, unit: &UnitId, files: &UnitFiles) -> Result<WorkFolder, TofuError> {
        let (dir, data_dir, staging) = (places.work(unit), places.data(unit), places.staging());
        let mut own = BTreeMap::new();
        let mut modules: BTreeMap<Utf8PathBuf, BTreeMap<&Utf8Path, &[u8]>> = BTreeMap::new();
        for (path, bytes) in files {
            check(path)?;
            match path.strip_prefix("modules") {
                Ok(below) => {
                    let mut parts = below.components();
                    let module = places.modules().join(parts.next().map_or("", |part| part.as_str()));
                    modules.entry(module).or_default().insert(parts.as_path(), bytes);
                }
                Err(_) => {
                    own.insert(path.as_path(), bytes.as_slice());
                }
            }
        }
        let folder = WorkFolder {
            unit: unit.clone(),
            dir,
            data_dir,
            modules: modules.keys().cloned().collect(),
            unsaved: places.unsaved_state(unit),
        };
        private_folder(&staging)?;
        private_folder(&folder.own_data())?;
        private_folder(&folder.temporary())?;
        for (module, files) in &modules {
            bring(module, files, &[], &staging)?;
        }
        bring(&folder.dir, &own, &[LOCK_FILE, UNSAVED_STATE], &staging)?;
        Ok(folder)
    }

    pub fn unit(&self) -> &UnitId {
        &self.unit
    }

    pub fn dir(&self) -> &Utf8Path {
        &self.dir
    }

    pub fn data_dir(&self) -> &Utf8Path {
        &self.data_dir
    }

    /// Where a plan of this unit may be put when the caller has no place of its own.
    pub fn plan_file(&self) -> Utf8PathBuf {
        self.own_data().join("plan")
    }

    /// TMPDIR of the unit's tofu and its plugins.
    pub(crate) fn temporary(&self) -> Utf8PathBuf {
        self.data_dir.join("tmp")
    }

    /// Our own files beside those that tofu keeps in its data folder.
    pub(crate) fn own_data(&self) -> Utf8PathBuf {
        self.data_dir.join("eos")
    }
}

/// Paths come from compiled or archived bytes: none may lead out of the folder.
fn check(path: &Utf8Path) -> Result<(), TofuError> {
    let plain = path.components().all(|part| matches!(part, Utf8Component::Normal(_)));
    let named = match path.strip_prefix("modules") {
        Ok(below) => below.components().count() > 1,
        Err(_) => !path.as_str().is_empty(),
    };
    if plain && named {
        return Ok(());
    }
    Err(TofuError::Unreadable {
        what: format!("the file name {path:?} of a unit"),
        reason: "it must be a path below the unit".into(),
    })
}

fn bring(
    root: &Utf8Path,
    files: &BTreeMap<&Utf8Path, &[u8]>,
    kept: &[&str],
    staging: &Utf8Path,
) -> Result<(), TofuError> {
    let folders: BTreeSet<&Utf8Path> = files
        .keys()
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|path| !path.as_str().is_empty())
        .collect();
    real_folder(root)?;
    remove_strays(root, Utf8Path::new(""), files, &folders, kept)?;
    for folder in folders {
        real_folder(&root.join(folder))?;
    }
    for (path, bytes) in files {
        put(&root.join(path), bytes, staging)?;
    }
    Ok(())
}

/// A folder that is one, not a link to somewhere else.
fn real_folder(path: &Utf8Path) -> Result<(), TofuError> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir()) {
        std::fs::remove_file(path).map_err(TofuError::io(format!("remove {path}")))?;
    }
    private_folder(path)
}

fn remove_strays(
    root: &Utf8Path,
    below: &Utf8Path,
    files: &BTreeMap<&Utf8Path, &[u8]>,
    folders: &BTreeSet<&Utf8Path>,
    kept: &[&str],
) -> Result<(), TofuError> {
    let folder = root.join(below);
    let failed = || TofuError::io(format!("clear {folder}"));
    for entry in std::fs::read_dir(&folder).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let kind = entry.file_type().map_err(failed())?;
        let name = entry.file_name();
        let known = name.to_str().map(|name| below.join(name));
        match known {
            Some(path) if kind.is_dir() && folders.contains(path.as_path()) => {
                remove_strays(root, &path, files, folders, kept)?;
            }
            Some(path) if kind.is_file() && files.contains_key(path.as_path()) => {}
            Some(path) if kind.is_file() && kept.contains(&path.as_str()) => {}
            _ if kind.is_dir() => std::fs::remove_dir_all(entry.path()).map_err(failed())?,
            _ => std::fs::remove_file(entry.path()).map_err(failed())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> UnitId {
        UnitId { env: "production".parse().unwrap(), name: "web".parse().unwrap() }
    }

    fn files(list: &[(&str, &str)]) -> UnitFiles {
        list.iter().map(|(path, text)| (Utf8PathBuf::from(path), text.as_bytes().to_vec())).collect()
    }

    fn found(root: &Utf8Path) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in folder.read_dir_utf8().unwrap().flatten() {
                let path = entry.path().to_owned();
                if std::fs::symlink_metadata(&path).unwrap().is_dir() {
                    found.insert(format!("{}/", path.strip_prefix(root).unwrap()), String::new());
                    open.push(path);
                } else {
                    let text = std::fs::read_to_string(&path).unwrap();
                    found.insert(path.strip_prefix(root).unwrap().to_string(), text);
                }
            }
        }
        found
    }

    #[test]
    fn whatever_was_there_the_folder_ends_with_exactly_the_files() {
        let temporary = tempfile::tempdir().unwrap();
        let places = Places::new(Utf8PathBuf::try_from(temporary.path().to_owned()).unwrap());
        let outside = places.root().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("precious"), "kept").unwrap();

        let first = files(&[("main.tf.json", "{}"), ("jobs/a.json", "1"), ("old/deep/b", "2")]);
        let folder = WorkFolder::fill(&places, &unit(), &first).unwrap();
        let dir = folder.dir().to_owned();
        std::fs::write(dir.join(LOCK_FILE), "lock").unwrap();
        std::fs::write(dir.join(UNSAVED_STATE), "state").unwrap();
        std::fs::write(dir.join("extra.tf"), "stray").unwrap();
        std::fs::create_dir_all(dir.join(".terraform/providers")).unwrap();
        std::fs::remove_dir_all(dir.join("jobs")).unwrap();
        std::os::unix::fs::symlink(&outside, dir.join("jobs")).unwrap();
        std::fs::remove_file(dir.join("main.tf.json")).unwrap();
        std::os::unix::fs::symlink(outside.join("precious"), dir.join("main.tf.json")).unwrap();

        let second = files(&[("main.tf.json", "{\"a\":1}"), ("jobs/a.json", "1"), ("old", "now a file")]);
        let folder = WorkFolder::fill(&places, &unit(), &second).unwrap();
        let expected = [
            (".terraform.lock.hcl", "lock"),
            ("errored.tfstate", "state"),
            ("jobs/", ""),
            ("jobs/a.json", "1"),
            ("main.tf.json", "{\"a\":1}"),
            ("old", "now a file"),
        ];
        assert_eq!(found(&dir), expected.map(|(path, text)| (path.into(), text.into())).into());
        assert_eq!(found(&outside), [("precious".to_owned(), "kept".to_owned())].into());
        // It moves out of the cache, and is found there from then on.
        let kept = places.unsaved_state(&unit());
        let found = || folder.unsaved_state().map(|unsaved| unsaved.file);
        assert_eq!(found(), Some(kept.clone()));
        assert!(!dir.join(UNSAVED_STATE).exists());
        assert_eq!((found(), std::fs::read_to_string(&kept).unwrap()), (Some(kept), "state".into()));
    }

    #[test]
    fn modules_lie_beside_the_environments_and_stay_for_other_units() {
        let temporary = tempfile::tempdir().unwrap();
        let places = Places::new(Utf8PathBuf::try_from(temporary.path().to_owned()).unwrap());
        WorkFolder::fill(&places, &unit(), &files(&[("main.tf.json", "{}"), ("modules/d1/m.tf", "1")]))
            .unwrap();
        std::fs::write(places.modules().join("d1/stray.tf"), "").unwrap();
        let both = files(&[("main.tf.json", "{}"), ("modules/d1/m.tf", "1"), ("modules/d2/m.tf", "2")]);
        let folder = WorkFolder::fill(&places, &unit(), &both).unwrap();
        WorkFolder::fill(&places, &unit(), &files(&[("main.tf.json", "{}")])).unwrap();
        let kept = found(&folder.dir().join("../../modules"));
        let expected = [("d1/", ""), ("d1/m.tf", "1"), ("d2/", ""), ("d2/m.tf", "2")];
        assert_eq!(kept, expected.map(|(path, text)| (path.into(), text.into())).into());
    }

    #[test]
    fn no_path_leads_out() {
        let temporary = tempfile::tempdir().unwrap();
        let places = Places::new(Utf8PathBuf::try_from(temporary.path().to_owned()).unwrap());
        for path in ["../evil", "/etc/evil", "a/../../evil", "", "modules/../../evil", "modules/m.tf"] {
            let error = WorkFolder::fill(&places, &unit(), &files(&[(path, "x")])).unwrap_err();
            assert!(matches!(error, TofuError::Unreadable { .. }), "{path}: {error}");
        }
    }
}
