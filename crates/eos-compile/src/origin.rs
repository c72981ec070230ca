//! Where a generated value comes from: a key of the pillar, or a default of the catalogue.

use std::sync::Arc;

use eos_model::Name;
use eos_pillar::estate_file::ESTATE_FILE;

/// The source of a value, as the provenance has it. Joined with git only when somebody asks (`eos why`).
///
/// A value passes through several hands and each keeps its origins, so a copy costs a count and no text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin(Arc<str>);

impl Origin {
    /// A key of a pillar file: `pillar/…/grafana.sls#eos:components:grafana:settings:port`.
    pub fn pillar(file: &str, key: &str) -> Origin {
        Origin(Arc::from([file, "#", key].concat()))
    }

    /// Something a kind says: `catalog/grafana/component.yaml#settings:port:default`.
    pub fn catalog(kind: &str, key: &str) -> Origin {
        Origin(Arc::from(["catalog/", kind, "/component.yaml#", key].concat()))
    }

    /// A key of `eos.toml`.
    pub fn estate(key: &str) -> Origin {
        Origin(Arc::from([ESTATE_FILE, "#", key].concat()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn default_of(kind: &str, setting: &str) -> Origin {
        Origin::catalog(kind, &["settings:", setting, ":default"].concat())
    }

    pub fn component_key(name: &Name, key: &str) -> String {
        ["eos:components:", name.as_str(), ":", key].concat()
    }
}
