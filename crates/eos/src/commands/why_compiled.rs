//! A file of build/ beside what compiles now: `eos why` tells of the latter, and notices where the two differ.

use camino::Utf8Path;
use eos_model::EnvName;
use serde_json::{Value as Json, json};
use similar::{Algorithm, DiffTag};

use crate::build_folder;
use crate::loaded::Loaded;

/// The file as it compiles, with what eos has noted about it, and how the file on disk stands to it.
pub struct Beside {
    pub text: String,
    pub provenance: Json,
    pub manifest: Json,
    /// For each line on disk the number of the one that compiles, where there is one.
    same: Vec<Option<u64>>,
    /// Lines that compile and are not on disk.
    pub missing: usize,
    /// Whether the file was changed since eos wrote it; if not and it differs all the same, the pillar was.
    by_hand: bool,
    /// Whether the pillar compiles at all; if not, what lies in build/ is all there is to tell of.
    pub compiles: bool,
}

impl Beside {
    /// `None` for a file that is no artifact. `on_disk` is the text of the file.
    pub fn of(
        loaded: &Loaded,
        env: &EnvName,
        unit: &Utf8Path,
        path: &Utf8Path,
        on_disk: &str,
    ) -> Option<Beside> {
        let compiled = loaded.compile_here(env).ok();
        let read = |path: &Utf8Path| match &compiled {
            Some(compiled) => {
                compiled.files.get(path.as_str()).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            }
            None => fs_err::read_to_string(loaded.estate.root.join(path)).ok(),
        };
        let document = |name: &str| -> Json {
            read(&unit.join(name)).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
        };
        let text = read(path)?;
        let (old, new): (Vec<&str>, Vec<&str>) = (on_disk.lines().collect(), text.lines().collect());
        let mut same = vec![None; old.len()];
        let mut missing = 0;
        for change in similar::capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (tag, here, there) = change.as_tag_tuple();
            match tag {
                DiffTag::Equal => {
                    for (line, number) in here.zip(there) {
                        same[line] = Some(number as u64 + 1);
                    }
                }
                DiffTag::Delete => {}
                DiffTag::Insert | DiffTag::Replace => missing += there.len().saturating_sub(here.len()),
            }
        }
        Some(Beside {
            by_hand: build_folder::is_edited(&loaded.estate.root, env, path, on_disk.as_bytes()),
            provenance: document("provenance.json"),
            manifest: document("manifest.json"),
            text,
            same,
            missing,
            compiles: compiled.is_some(),
        })
    }

    /// The number of the line that compiles, for one on disk.
    pub fn line(&self, on_disk: u64) -> Option<u64> {
        self.same.get(on_disk as usize - 1).copied().flatten()
    }

    /// What is said of a line that does not compile to what it is, and its source for `--json`.
    pub fn differs(&self) -> (String, Json) {
        let said = if self.by_hand {
            "edited by hand: this is not what compiles, and eos compile puts it back"
        } else {
            "not what compiles now: what it is made from has changed since; eos compile writes it anew"
        };
        (said.to_owned(), json!({"edited": self.by_hand}))
    }
}
