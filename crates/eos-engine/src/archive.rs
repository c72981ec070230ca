//! The compiled bytes of every applied unit, by digest: what undo, drift, resume and the removal of orphans work from.
//!
//! One file an entry, so that an entry is there whole or not at all and costs one flush; plain JSON, so that a person
//! can read it without eos. An entry is checked against its digest whenever it is read.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use camino::Utf8PathBuf;
use eos_model::{Diagnostic, UnitId, codes};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::layout::Layout;
use crate::unit::{Digest, Unit};

const FORMAT: u32 = 1;

#[derive(Debug, Clone)]
pub struct Archive {
    folder: Utf8PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    format: u32,
    digest: Digest,
    files: BTreeMap<Utf8PathBuf, Content>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Bytes { base64: String },
}

impl Archive {
    pub fn new(layout: &Layout) -> Archive {
        Archive { folder: layout.archive() }
    }

    /// Keeps a unit's bytes; durable when it returns. Keeping what is there already costs nothing. The manifest is not part
    /// of the digest: of the same bytes the last one counts, which says what they need now.
    pub fn keep(&self, unit: &Unit) -> Result<(), Diagnostic> {
        let path = self.path(&unit.id, &unit.digest)?;
        let is_there = |kept: Unit| kept.manifest == unit.manifest;
        if path.exists() && self.read(&unit.id, &unit.digest).is_ok_and(is_there) {
            return Ok(());
        }
        let content = |bytes: &Vec<u8>| match String::from_utf8(bytes.clone()) {
            Ok(text) => Content::Text(text),
            Err(_) => Content::Bytes { base64: BASE64.encode(bytes) },
        };
        let files = unit.files.iter().map(|(path, bytes)| (path.clone(), content(bytes))).collect();
        let entry = Entry { format: FORMAT, digest: unit.digest.clone(), files };
        let text = serde_json::to_vec_pretty(&entry).unwrap_or_default();
        files::write(&path, &text).map_err(|error| {
            Diagnostic::error(
                codes::ARCHIVE,
                format!("cannot keep the compiled bytes of {}: {error}", unit.id),
            )
            .why("without them this unit could not be undone; nothing was begun")
            .fix(format!("make room on the disk, then run {}", crate::problems::AGAIN))
        })
    }

    /// The unit as it was when these bytes were applied.
    pub fn read(&self, id: &UnitId, digest: &Digest) -> Result<Unit, Diagnostic> {
        let path = self.path(id, digest)?;
        let bytes = fs_err::read(&path).map_err(|e| lost(id, digest, &format!("cannot be read: {e}")))?;
        let changed = || lost(id, digest, "are not what they were");
        let entry: Entry = serde_json::from_slice(&bytes).map_err(|_| changed())?;
        if entry.format > FORMAT {
            return Err(Diagnostic::error(
                codes::NEWER_FORMAT,
                format!("the archive has {id} in format {}; this eos reads up to {FORMAT}", entry.format),
            )
            .fix("use the newer eos"));
        }
        let mut files = BTreeMap::new();
        for (path, content) in entry.files {
            let bytes = match content {
                Content::Text(text) => text.into_bytes(),
                Content::Bytes { base64 } => BASE64.decode(base64).map_err(|_| changed())?,
            };
            files.insert(path, bytes);
        }
        let unit = Unit::new(&id.env, id.name.clone(), files).map_err(|_| changed())?;
        if unit.digest != *digest {
            return Err(changed());
        }
        Ok(unit)
    }

    fn path(&self, id: &UnitId, digest: &Digest) -> Result<Utf8PathBuf, Diagnostic> {
        // One entry an environment and unit: equal bytes of two units differ in their manifests.
        let folder = self.folder.join(id.env.as_str()).join(id.name.as_str());
        digest.file(&folder).ok_or_else(|| lost(id, digest, "have a digest that is none"))
    }
}

fn lost(id: &UnitId, digest: &Digest, what: &str) -> Diagnostic {
    Diagnostic::error(codes::ARCHIVE, format!("the archived bytes of {id} ({digest}) {what}"))
        .why("undo, drift and the removal of units work from them")
        .fix("run it in the clone that applied it, or bring .eos/state/archive back from a backup")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(main: &[u8]) -> Unit {
        let manifest = br#"{"format": 1, "unit": "test/web", "kind": "web"}"#;
        let files = BTreeMap::from([
            ("main.tf.json".into(), main.to_vec()),
            ("manifest.json".into(), manifest.to_vec()),
            ("blob".into(), vec![0xff, 0, 1]),
        ]);
        Unit::new(&"test".parse().unwrap(), "web".parse().unwrap(), files).unwrap()
    }

    #[test]
    fn an_entry_reads_back_and_damage_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let archive = Archive::new(&Layout::new(root));
        let unit = unit(b"{\"resource\": {}}");
        assert_eq!(archive.read(&unit.id, &unit.digest).unwrap_err().code, codes::ARCHIVE);
        archive.keep(&unit).unwrap();
        assert_eq!(archive.read(&unit.id, &unit.digest).unwrap(), unit);
        let path = archive.path(&unit.id, &unit.digest).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("resource", "resourcf")).unwrap();
        assert_eq!(archive.read(&unit.id, &unit.digest).unwrap_err().code, codes::ARCHIVE);
        archive.keep(&unit).unwrap();
        assert_eq!(archive.read(&unit.id, &unit.digest).unwrap(), unit, "a damaged entry is written again");
        let mut files = unit.files.clone();
        let manifest = br#"{"format": 1, "unit": "test/web", "kind": "web", "needs": ["db"]}"#;
        files.insert("manifest.json".into(), manifest.to_vec());
        let needy = Unit::new(&unit.id.env, unit.id.name.clone(), files).unwrap();
        assert_eq!(needy.digest, unit.digest);
        archive.keep(&needy).unwrap();
        assert_eq!(
            archive.read(&unit.id, &unit.digest).unwrap().manifest.needs.len(),
            1,
            "what it needs now"
        );
    }
}
