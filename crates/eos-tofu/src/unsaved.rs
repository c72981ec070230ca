//! A state that its backend did not take, where tofu could leave it in a file: the only record of what was just made.

use std::collections::BTreeMap;
use std::io::BufReader;

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::UnitId;
use serde::de::IgnoredAny;

use crate::files::private_folder;
use crate::{Places, TofuError, WorkFolder};

/// Where tofu leaves it, in the folder it runs in.
pub(crate) const UNSAVED_STATE: &str = "errored.tfstate";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsavedState {
    pub file: Utf8PathBuf,
    /// It is a state, encrypted or not. On a full disk what is left may be empty, or break off.
    pub is_whole: bool,
}

impl WorkFolder {
    /// Nothing may be planned before it is pushed, or put aside.
    pub fn unsaved_state(&self) -> Option<UnsavedState> {
        find(&self.dir, &self.unsaved)
    }

    /// Puts it where it stands in nobody's way, and says where that is.
    pub fn put_unsaved_state_aside(&self) -> Result<Option<Utf8PathBuf>, TofuError> {
        put_aside(&self.dir, &self.unsaved)
    }
}

impl Places {
    /// The same for a unit whose folder is not filled.
    pub fn put_unsaved_state_aside(&self, unit: &UnitId) -> Result<Option<Utf8PathBuf>, TofuError> {
        put_aside(&self.work(unit), &self.unsaved_state(unit))
    }
}

fn find(work: &Utf8Path, kept: &Utf8Path) -> Option<UnsavedState> {
    let left = work.join(UNSAVED_STATE);
    if left.exists() {
        // The folder is a cache that may be deleted. What cannot be moved stays where it is found as well.
        let parent = kept.parent().map(private_folder);
        if parent.is_some_and(|made| made.is_ok()) {
            let _ = std::fs::rename(&left, kept);
        }
    }
    let file = [left, kept.to_owned()].into_iter().find(|file| file.exists())?;
    Some(UnsavedState { is_whole: is_state(&file), file })
}

fn put_aside(work: &Utf8Path, kept: &Utf8Path) -> Result<Option<Utf8PathBuf>, TofuError> {
    let Some(UnsavedState { file, .. }) = find(work, kept) else { return Ok(None) };
    let failed = || TofuError::io(format!("put {file} aside"));
    if let Some(parent) = kept.parent() {
        private_folder(parent)?;
    }
    let numbered = |number: u32| Utf8PathBuf::from(format!("{kept}.{number}"));
    let aside = (1..).map(numbered).find(|aside| !aside.exists());
    let aside = aside.ok_or_else(|| failed()(std::io::Error::other("there are too many")))?;
    std::fs::rename(&file, &aside).map_err(failed())?;
    Ok(Some(aside))
}

/// Its values are read by nobody here.
fn is_state(file: &Utf8Path) -> bool {
    let Ok(opened) = std::fs::File::open(file) else { return false };
    let read: Result<BTreeMap<String, IgnoredAny>, _> = serde_json::from_reader(BufReader::new(opened));
    read.is_ok_and(|state| ["lineage", "encrypted_data"].iter().any(|key| state.contains_key(*key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_told_from_what_a_full_disk_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let file = Utf8PathBuf::try_from(folder.path().join("errored.tfstate")).unwrap();
        for (text, whole) in [
            (r#"{"version":4,"serial":1,"lineage":"","resources":[]}"#, true),
            (r#"{"serial":1,"lineage":"l","encrypted_data":"x","encryption_version":"v0"}"#, true),
            ("", false),
            (r#"{"version":4,"serial":1,"lineage":"","resour"#, false),
            (r#"{"version":4,"serial":1,"lineage":"l"} {"ver"#, false),
            ("{}", false),
            ("[]", false),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(is_state(&file), whole, "{text}");
        }
        assert!(!is_state(Utf8Path::new("/nowhere/at/all")));
    }

    #[test]
    fn what_is_put_aside_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::new(Utf8PathBuf::try_from(folder.path().to_owned()).unwrap());
        let unit = UnitId { env: "production".parse().unwrap(), name: "web".parse().unwrap() };
        assert_eq!(places.put_unsaved_state_aside(&unit).unwrap(), None);
        let kept = places.unsaved_state(&unit);
        for text in ["first", "second"] {
            std::fs::create_dir_all(places.work(&unit)).unwrap();
            std::fs::write(places.work(&unit).join(UNSAVED_STATE), text).unwrap();
            let aside = places.put_unsaved_state_aside(&unit).unwrap().unwrap();
            assert_eq!(std::fs::read_to_string(aside).unwrap(), text);
            assert_eq!(places.put_unsaved_state_aside(&unit).unwrap(), None);
        }
        let read = |number| std::fs::read_to_string(format!("{kept}.{number}")).unwrap();
        assert_eq!((read(1), read(2)), ("first".to_owned(), "second".to_owned()));
    }
}
