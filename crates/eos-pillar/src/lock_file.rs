//! `eos.lock`: what the artifacts were made with, so that a newer eos changes no unit by itself.

use std::collections::BTreeMap;

use camino::Utf8Path;
use eos_model::Diagnostic;
use serde::{Deserialize, Serialize};

use crate::estate_file::{bad_toml, refuse_newer};

/// Its name in the estate's root.
pub const LOCK_FILE: &str = "eos.lock";
/// Where an estate keeps its copies of the built-in components it uses.
pub const VENDORED_CATALOG: &str = "vendor/catalog";
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    pub format: u32,
    /// Version of the emitters.
    pub compiler: u32,
    /// Tells this estate apart from others of its name: its jobs are marked with it. Estates of an older eos have none
    /// until `eos upgrade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estate: Option<String>,
    /// What its states are kept under at a backend that other estates use too. Estates of an older eos have none: theirs are
    /// under the estate's name, and stay there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_key: Option<String>,
    /// Which local state is this estate's, from its first run on: a clone without it must not build everything anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Tool → version.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// Built-in kind → digest of its folder.
    #[serde(default)]
    pub catalog: BTreeMap<String, String>,
}

impl LockFile {
    pub fn new(compiler: u32, tools: BTreeMap<String, String>) -> LockFile {
        LockFile {
            format: FORMAT,
            compiler,
            estate: None,
            state_key: None,
            state: None,
            tools,
            catalog: BTreeMap::new(),
        }
    }

    pub fn parse(text: &str) -> Result<LockFile, Diagnostic> {
        let file = Utf8Path::new(LOCK_FILE);
        refuse_newer(text, file, FORMAT)?;
        toml::from_str(text).map_err(|error| bad_toml(file, text, &error))
    }

    pub fn write(&self) -> String {
        let body = toml::to_string(self).unwrap_or_default();
        format!("# Written by eos; `eos upgrade` changes it.\n{body}")
    }
}
