//! How a unit's compiled bytes are given to tofu: as they are, or with data held back.
//!
//! Keeping is a `removed` block with `destroy = false`. Taking a unit away plans an otherwise empty module, so that what
//! is recorded goes and what holds data is forgotten, whatever the compiled module would have refused. Taking kept data
//! back is an `import` block.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use eos_tofu::UnitFiles;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::data::without_protection;
use crate::record::Goal;
use crate::unit::{INPUTS, MAIN, main_of};

/// Beside `main.tf.json` in the work folder only, never in what is compiled or archived.
const EXTRA: &str = "eos_data.tf.json";

/// What is done to the compiled bytes before tofu sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Treatment {
    /// Resources that leave tofu's care and stay in the world, without instance keys.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub keep: BTreeSet<String>,
    /// Kept objects that are taken back: address → the provider's id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adopt: BTreeMap<String, String>,
    /// Data of this unit may go: the person named it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub destroy_data: bool,
}

impl Treatment {
    /// The files for the work folder.
    pub fn prepare(&self, files: &UnitFiles, goal: Goal, inputs: &BTreeMap<String, Json>) -> UnitFiles {
        let mut prepared = files.clone();
        let main = main_of(files);
        match goal {
            Goal::Present if self.destroy_data => {
                set(&mut prepared, MAIN, &without_protection(main));
            }
            Goal::Present => {}
            Goal::Gone => {
                set(&mut prepared, MAIN, &emptied(&main));
            }
        }
        let inputs: Map<String, Json> =
            inputs.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        set(&mut prepared, INPUTS, &Json::Object(inputs));
        if let Some(extra) = self.extra() {
            set(&mut prepared, EXTRA, &extra);
        }
        prepared
    }

    fn extra(&self) -> Option<Json> {
        let mut extra = Map::new();
        if !self.keep.is_empty() {
            let block = |address: &String| json!({"from": address, "lifecycle": {"destroy": false}});
            extra.insert("removed".into(), self.keep.iter().map(block).collect());
        }
        if !self.adopt.is_empty() {
            let block = |(address, id): (&String, &String)| json!({"to": address, "id": id});
            extra.insert("import".into(), self.adopt.iter().map(block).collect());
        }
        (!extra.is_empty()).then_some(Json::Object(extra))
    }
}

/// A module with nothing in it but what is needed to destroy: backend, providers and the variables these may use.
/// A variable may be left without a value, since the unit that gave it may be gone.
fn emptied(main: &Json) -> Json {
    let mut empty = Map::new();
    for block in ["terraform", "provider"] {
        if let Some(value) = main.get(block) {
            empty.insert(block.to_owned(), value.clone());
        }
    }
    if let Some(variables) = main.get("variable").and_then(Json::as_object) {
        let optional = variables.keys().map(|name| (name.clone(), json!({"default": null})));
        empty.insert("variable".to_owned(), Json::Object(optional.collect()));
    }
    Json::Object(empty)
}

fn set(files: &mut UnitFiles, path: &str, content: &Json) {
    files.insert(Utf8PathBuf::from(Utf8Path::new(path)), format!("{content:#}\n").into_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> UnitFiles {
        let main = json!({
            "terraform": {"backend": {"local": {}}},
            "provider": {"hcloud": {}},
            "resource": {"hcloud_volume": {"data": {"size": 10, "lifecycle": {"prevent_destroy": true, "ignore_changes": ["x"]}}}},
            "output": {"id": {"value": "${hcloud_volume.data.id}"}},
        });
        BTreeMap::from([(MAIN.into(), main.to_string().into_bytes()), (INPUTS.into(), b"{}".to_vec())])
    }

    fn read(files: &UnitFiles, path: &str) -> Json {
        serde_json::from_slice(&files[Utf8Path::new(path)]).unwrap()
    }

    #[test]
    fn an_untreated_unit_keeps_its_bytes_and_gets_its_inputs() {
        let inputs = BTreeMap::from([("address".to_owned(), json!("10.0.0.1"))]);
        let prepared = Treatment::default().prepare(&files(), Goal::Present, &inputs);
        assert_eq!(prepared[Utf8Path::new(MAIN)], files()[Utf8Path::new(MAIN)]);
        assert_eq!(read(&prepared, INPUTS), json!({"address": "10.0.0.1"}));
        assert!(!prepared.contains_key(Utf8Path::new(EXTRA)));
    }

    #[test]
    fn a_unit_that_goes_keeps_its_data() {
        let treatment =
            Treatment { keep: BTreeSet::from(["hcloud_volume.data".to_owned()]), ..Treatment::default() };
        let prepared = treatment.prepare(&files(), Goal::Gone, &BTreeMap::new());
        assert_eq!(
            read(&prepared, MAIN),
            json!({"terraform": {"backend": {"local": {}}}, "provider": {"hcloud": {}}})
        );
        assert_eq!(
            read(&prepared, EXTRA),
            json!({"removed": [{"from": "hcloud_volume.data", "lifecycle": {"destroy": false}}]})
        );
    }

    #[test]
    fn only_a_named_unit_loses_its_protection() {
        let treatment = Treatment { destroy_data: true, ..Treatment::default() };
        let prepared = treatment.prepare(&files(), Goal::Present, &BTreeMap::new());
        assert_eq!(
            read(&prepared, MAIN)["resource"]["hcloud_volume"]["data"]["lifecycle"],
            json!({"ignore_changes": ["x"]})
        );
    }
}
