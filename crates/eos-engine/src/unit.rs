//! A compiled unit as the engine sees it: its bytes, what its manifest says, and the digest both go by.
//!
//! The digest is over what tofu reads. The manifest and the provenance are left out, as the compiler does: a moved line
//! in a pillar file changes neither what runs nor its digest.

use std::collections::BTreeMap;
use std::fmt;

use camino::Utf8PathBuf;
use eos_model::{Diagnostic, Diagnostics, EnvName, HostName, Name, UnitId, codes};
use eos_tofu::UnitFiles;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

pub(crate) const MAIN: &str = "main.tf.json";
pub(crate) const INPUTS: &str = "inputs.auto.tfvars.json";
pub(crate) const MANIFEST: &str = "manifest.json";
const PROVENANCE: &str = "provenance.json";
/// The manifest's format that is read here.
const FORMAT: u64 = 1;

/// `sha256:…` of a unit's compiled bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

/// What the engine reads of a unit's `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u64,
    pub unit: String,
    pub kind: String,
    #[serde(default)]
    pub host: Option<HostName>,
    /// The units that must be applied before.
    #[serde(default)]
    pub needs: Vec<Name>,
    /// Variable → the output of another unit that gives its value.
    #[serde(default)]
    pub inputs: BTreeMap<String, InputSource>,
    #[serde(default)]
    pub volumes: Vec<Volume>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputSource {
    pub unit: Name,
    pub output: String,
}

/// Where a unit's data lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    pub name: String,
    pub class: String,
    #[serde(default)]
    pub path: Option<String>,
}

/// One root module, ready to be given to tofu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub id: UnitId,
    pub manifest: Manifest,
    /// Without provenance; shared modules below `modules/`.
    pub files: UnitFiles,
    pub digest: Digest,
}

/// The compiled units of one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    pub env: EnvName,
    pub units: BTreeMap<Name, Unit>,
}

impl Units {
    /// From the compiler's files, whose paths begin with `build/`.
    pub fn from_build<'f>(
        env: &EnvName,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<Units, Diagnostics> {
        let prefix = format!("build/{env}/");
        let mut folders: BTreeMap<&str, UnitFiles> = BTreeMap::new();
        let mut modules: BTreeMap<&str, UnitFiles> = BTreeMap::new();
        for (path, bytes) in files {
            if let Some((module, rest)) = path.strip_prefix("build/modules/").and_then(|r| r.split_once('/'))
            {
                modules
                    .entry(module)
                    .or_default()
                    .insert(format!("modules/{module}/{rest}").into(), bytes.to_vec());
            } else if let Some((unit, rest)) = path.strip_prefix(&prefix).and_then(|r| r.split_once('/')) {
                folders.entry(unit).or_default().insert(rest.into(), bytes.to_vec());
            }
        }
        let mut found = Diagnostics::new();
        let mut units = BTreeMap::new();
        for (name, mut files) in folders {
            // A unit names the modules it calls by their folder, which has their digest in its name.
            let main = files
                .get(camino::Utf8Path::new(MAIN))
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            for (module, more) in &modules {
                if main.as_ref().is_some_and(|main| main.contains(&format!("modules/{module}\""))) {
                    files.extend(more.clone());
                }
            }
            match name.parse::<Name>().map_err(Diagnostic::from).and_then(|name| Unit::new(env, name, files))
            {
                Ok(unit) => {
                    units.insert(unit.id.name.clone(), unit);
                }
                Err(problem) => found.push(problem),
            }
        }
        if found.has_errors() { Err(found) } else { Ok(Units { env: env.clone(), units }) }
    }
}

impl Unit {
    pub fn new(env: &EnvName, name: Name, mut files: UnitFiles) -> Result<Unit, Diagnostic> {
        let id = UnitId { env: env.clone(), name };
        files.remove(camino::Utf8Path::new(PROVENANCE));
        let broken = |problem: String| {
            Diagnostic::error(codes::BAD_UNIT, format!("the compiled unit {id} cannot be used: {problem}"))
                .fix(format!("eos compile --env {}", id.env))
        };
        let bytes = files
            .get(camino::Utf8Path::new(MANIFEST))
            .ok_or_else(|| broken(format!("it has no {MANIFEST}")))?;
        let manifest: Manifest = serde_json::from_slice(bytes)
            .map_err(|e| broken(format!("its {MANIFEST} cannot be read: {e}")))?;
        if manifest.format > FORMAT {
            return Err(Diagnostic::error(
                codes::NEWER_FORMAT,
                format!("{id} has a manifest of format {}; this eos reads up to {FORMAT}", manifest.format),
            )
            .fix("use the newer eos"));
        }
        if manifest.unit != id.to_string() {
            return Err(broken(format!("its {MANIFEST} is that of {}", manifest.unit)));
        }
        if !files.contains_key(camino::Utf8Path::new(MAIN)) {
            return Err(broken(format!("it has no {MAIN}")));
        }
        let digest = Digest::of(&files);
        Ok(Unit { id, manifest, files, digest })
    }

    pub fn name(&self) -> &Name {
        &self.id.name
    }

    /// Its root module; `null` when it is no JSON, which tofu will say better.
    pub fn main(&self) -> Json {
        main_of(&self.files)
    }

    pub(crate) fn takes_from(&self, other: &Name) -> bool {
        self.manifest.inputs.values().any(|source| source.unit == *other)
    }
}

pub(crate) fn main_of(files: &UnitFiles) -> Json {
    let bytes = files.get(camino::Utf8Path::new(MAIN)).map(Vec::as_slice).unwrap_or_default();
    serde_json::from_slice(bytes).unwrap_or_default()
}

impl Digest {
    /// Of everything but the manifest: length and content of each path and file, in order.
    pub fn of(files: &UnitFiles) -> Digest {
        let mut digest = Sha256::new();
        for (path, bytes) in files.iter().filter(|(path, _)| *path != MANIFEST && *path != PROVENANCE) {
            for part in [path.as_str().as_bytes(), bytes] {
                digest.update((part.len() as u64).to_be_bytes());
                digest.update(part);
            }
        }
        Digest(format!("sha256:{}", hex(&digest.finalize())))
    }

    /// The digits alone, safe as a file name.
    pub fn digits(&self) -> &str {
        self.0.strip_prefix("sha256:").unwrap_or(&self.0)
    }

    /// A file name made of hex digits only.
    pub(crate) fn file(&self, folder: &camino::Utf8Path) -> Option<Utf8PathBuf> {
        let digits = self.digits();
        let good = digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        good.then(|| folder.join(format!("{digits}.json")))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(main: &str) -> BTreeMap<String, Vec<u8>> {
        let manifest = r#"{"format": 1, "unit": "test/web", "kind": "web", "needs": ["db"], "inputs": {"address": {"unit": "db", "output": "address"}}}"#;
        BTreeMap::from([
            ("build/test/web/main.tf.json".to_owned(), main.as_bytes().to_vec()),
            ("build/test/web/manifest.json".to_owned(), manifest.as_bytes().to_vec()),
            ("build/test/web/provenance.json".to_owned(), b"{}".to_vec()),
            ("build/test/orchestrate.sls".to_owned(), b"#!yaml\n".to_vec()),
            ("build/modules/net-0a/main.tf.json".to_owned(), b"{}".to_vec()),
            ("build/modules/other-0b/main.tf.json".to_owned(), b"{}".to_vec()),
        ])
    }

    fn units(files: &BTreeMap<String, Vec<u8>>) -> Result<Units, Diagnostics> {
        let env = "test".parse().unwrap();
        Units::from_build(&env, files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())))
    }

    #[test]
    fn a_unit_takes_its_modules_along_and_leaves_provenance() {
        let made = units(&files(r#"{"module": {"n": {"source": "../../modules/net-0a"}}}"#)).unwrap();
        let web = &made.units["web"];
        let paths: Vec<&str> = web.files.keys().map(|path| path.as_str()).collect();
        assert_eq!(paths, ["main.tf.json", "manifest.json", "modules/net-0a/main.tf.json"]);
        assert_eq!(web.manifest.inputs["address"].unit.as_str(), "db");
    }

    #[test]
    fn the_digest_follows_what_tofu_reads_and_nothing_else() {
        let before = units(&files("{}")).unwrap().units["web"].digest.clone();
        let mut moved = files("{}");
        moved.insert("build/test/web/provenance.json".into(), b"{\"12\": []}".to_vec());
        assert_eq!(units(&moved).unwrap().units["web"].digest, before);
        assert_ne!(units(&files("{} ")).unwrap().units["web"].digest, before);
    }

    #[test]
    fn a_manifest_of_another_unit_or_a_newer_format_is_refused() {
        for (from, to) in [("test/web", "test/db"), ("\"format\": 1", "\"format\": 2")] {
            let mut wrong = files("{}");
            let manifest = wrong.get_mut("build/test/web/manifest.json").unwrap();
            *manifest = String::from_utf8(manifest.clone()).unwrap().replace(from, to).into_bytes();
            assert!(units(&wrong).is_err(), "{to}");
        }
    }
}
