//! What an init depends on, picked out of a unit's configuration: its settings, the modules it calls and the providers its
//! resources name. A change of anything else (an attribute, an output) needs no init.

use std::collections::BTreeSet;

use camino::Utf8Path;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{TofuError, WorkFolder};

/// The answer to: is an init needed, and will it install something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requirements {
    /// Changes when an init is needed.
    pub digest: String,
    /// The same for all units with the same providers, wherever they lie.
    pub providers: String,
    /// Whether it has other providers than the one built into tofu.
    pub installs: bool,
    /// Whether it has providers other than that and eos itself.
    pub foreign: bool,
}

impl Requirements {
    pub fn read(folder: &WorkFolder) -> Result<Requirements, TofuError> {
        let mut collected = Collected::default();
        collected.folder(folder.dir(), Detail::Picked)?;
        for module in &folder.modules {
            collected.folder(module, Detail::Whole)?;
        }
        let (digest, providers) = (hex(&collected.all.finalize()), hex(&collected.providers.finalize()));
        Ok(Requirements { digest, providers, installs: collected.installs, foreign: collected.foreign })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Detail {
    /// Only what matters to an init; for JSON of the unit itself.
    Picked,
    /// Every byte: modules seldom change, and HCL is not parsed here.
    Whole,
}

#[derive(Default)]
struct Collected {
    all: Sha256,
    providers: Sha256,
    installs: bool,
    foreign: bool,
}

impl Collected {
    fn folder(&mut self, folder: &Utf8Path, detail: Detail) -> Result<(), TofuError> {
        let failed = || TofuError::io(format!("read {folder}"));
        let mut names = BTreeSet::new();
        for entry in folder.read_dir_utf8().map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name().to_owned();
            let kind = entry.file_type().map_err(failed())?;
            if kind.is_dir() && detail == Detail::Whole {
                self.folder(entry.path(), detail)?;
            } else if [".tf", ".tf.json", ".tofu", ".tofu.json"].iter().any(|end| name.ends_with(end)) {
                names.insert(name);
            }
        }
        for name in names {
            let path = folder.join(&name);
            let bytes = std::fs::read(&path).map_err(TofuError::io(format!("read {path}")))?;
            let picked =
                if detail == Detail::Picked && name.ends_with(".json") { pick(&bytes) } else { None };
            self.installs |= picked.as_ref().is_none_or(|picked| picked.installs);
            self.foreign |= picked.as_ref().is_none_or(|picked| picked.foreign);
            let (all, providers) = match &picked {
                Some(picked) => (picked.text.as_bytes(), picked.providers.as_bytes()),
                None => (bytes.as_slice(), bytes.as_slice()),
            };
            self.all.update(format!("{path} {}\n", all.len()));
            self.all.update(all);
            self.providers.update(format!("{}\n", providers.len()));
            self.providers.update(providers);
        }
        Ok(())
    }
}

struct Picked {
    text: String,
    providers: String,
    installs: bool,
    foreign: bool,
}

/// None when it is not the JSON that was expected: then every byte counts.
fn pick(bytes: &[u8]) -> Option<Picked> {
    let document: Value = serde_json::from_slice(bytes).ok()?;
    let document = document.as_object()?;
    let mut providers = BTreeSet::new();
    for section in ["resource", "data", "ephemeral"] {
        for (kind, instances) in section_of(document, section)? {
            providers.insert(kind.split('_').next().unwrap_or(kind).to_owned());
            for body in objects(instances) {
                providers.extend(objects(body).filter_map(|body| body.get("provider")).map(Value::to_string));
            }
        }
    }
    for (name, _) in section_of(document, "provider")? {
        providers.insert(name.clone());
    }
    let mut kept = Map::new();
    for section in ["terraform", "module", "import", "removed"] {
        if let Some(value) = document.get(section) {
            kept.insert(section.to_owned(), value.clone());
        }
    }
    let modules = kept.contains_key("module");
    let installs = modules || providers.iter().any(|name| name != "terraform");
    let foreign = modules || providers.iter().any(|name| !["terraform", "eos"].contains(&name.as_str()));
    let required = kept.get("terraform").and_then(|settings| settings.get("required_providers"));
    let module = kept.get("module");
    let named = serde_json::json!({ "names": providers, "required": required, "module": module }).to_string();
    kept.insert("providers".to_owned(), providers.into_iter().collect());
    Some(Picked { text: Value::Object(kept).to_string(), providers: named, installs, foreign })
}

/// The entries of a section, which is one object or a list of objects; None when it is something else.
fn section_of<'a>(document: &'a Map<String, Value>, name: &str) -> Option<Vec<(&'a String, &'a Value)>> {
    match document.get(name) {
        None => Some(Vec::new()),
        Some(Value::Object(section)) => Some(section.iter().collect()),
        Some(Value::Array(sections)) => {
            let sections = sections.iter().map(Value::as_object).collect::<Option<Vec<_>>>()?;
            Some(sections.into_iter().flatten().collect())
        }
        Some(_) => None,
    }
}

/// The bodies of a block: the object itself, its members, or the members of a list.
fn objects(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(map) => Box::new(std::iter::once(value).chain(map.values())),
        Value::Array(list) => Box::new(list.iter().flat_map(|item| objects(item))),
        _ => Box::new(std::iter::empty()),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &str) -> (String, bool) {
        let picked = pick(document.as_bytes()).unwrap();
        (picked.text, picked.installs)
    }

    #[test]
    fn attributes_do_not_matter_providers_modules_and_settings_do() {
        let base =
            r#"{"terraform":{"backend":{"local":{}}},"resource":{"terraform_data":{"a":{"input":"1"}}}}"#;
        assert!(!text(base).1);
        assert_eq!(text(base), text(&base.replace("\"1\"", "\"2\"")));
        assert_eq!(text(base), text(&base.replace("\"a\"", "\"b\"")));
        assert_ne!(text(base), text(&base.replace("local", "http")));
        let cloud = base.replace("terraform_data", "hcloud_server");
        assert_ne!(text(base).0, text(&cloud).0);
        assert!(text(&cloud).1);
        let named = base.replace("\"input\":\"1\"", "\"provider\":\"aws.west\"");
        assert_ne!(text(base).0, text(&named).0);
        assert!(text(&named).1);
        let module =
            base.replace("\"resource\"", "\"module\":{\"m\":{\"source\":\"../../modules/x\"}},\"resource\"");
        assert_ne!(text(base).0, text(&module).0);
        assert!(text(&module).1);
        let own = pick(base.replace("terraform_data", "eos_nomad_job").as_bytes()).unwrap();
        assert!(own.installs && !own.foreign);
        assert!(pick(cloud.as_bytes()).unwrap().foreign && pick(module.as_bytes()).unwrap().foreign);
        let list = r#"{"resource":[{"terraform_data":[{"a":[{"provider":"aws"}]}]}]}"#;
        assert!(text(list).1);
    }

    #[test]
    fn what_is_not_understood_counts_byte_by_byte() {
        assert!(pick(b"resource {}").is_none());
        assert!(pick(b"[]").is_none());
        assert!(pick(br#"{"resource": 1}"#).is_none());
    }
}
