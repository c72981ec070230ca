//! Where a generated value comes from: a key of the pillar, or a default of the catalogue.

use eos_model::Name;

/// The source of a value. Joined with git only when somebody asks (`eos why`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A key below `eos:components:<unit>`, or below `eos:hosts` and so on when written in full.
    Pillar { file: String, line: u32, key: String },
    /// A default of a kind.
    Catalog { kind: String, key: String },
}

impl Origin {
    /// `pillar/…/grafana.sls#eos:components:grafana:settings:port`
    pub fn text(&self) -> String {
        match self {
            Origin::Pillar { file, key, .. } => format!("{file}#{key}"),
            Origin::Catalog { kind, key } => format!("catalog/{kind}/component.yaml#{key}"),
        }
    }

    pub fn default_of(kind: &str, setting: &str) -> Origin {
        Origin::Catalog { kind: kind.to_owned(), key: format!("settings:{setting}:default") }
    }

    pub fn component_key(name: &Name, key: &str) -> String {
        format!("eos:components:{name}:{key}")
    }
}
