//! What an account itself has: one record.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::core::id::Kind;
use crate::core::table::{Listed, Resource};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Settings {
    /// Ids of the default VPC and what belongs to it: never left over.
    pub born_with: BTreeSet<String>,
    #[serde(default)]
    pub ebs_encryption_by_default: bool,
}

impl Listed for Settings {
    fn key(&self) -> &str {
        "settings"
    }
}

impl Resource for Settings {
    const KIND: Kind = Kind {
        name: "settings",
        prefix: "settings",
        not_found: "InternalError",
        malformed: None,
        noun: "settings",
    };
    const OF_NO_NODE: bool = true;
}
