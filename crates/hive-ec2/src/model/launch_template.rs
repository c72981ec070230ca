//! Parameters of RunInstances under a name, in numbered versions that never change.

use hive_api::Tree;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LaunchTemplate {
    pub id: Id<LaunchTemplate>,
    pub name: String,
    pub created: Timestamp,
    pub default_version: u64,
    /// The highest number that was ever given; numbers of deleted versions do not come back.
    pub latest_version: u64,
    /// Sorted by number.
    pub versions: Vec<TemplateVersion>,
    pub tags: Tags,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TemplateVersion {
    pub number: u64,
    pub description: Option<String>,
    pub created: Timestamp,
    /// As it came; `data::template_shape` says what may be in it.
    pub data: Tree,
}

impl LaunchTemplate {
    pub fn version(&self, number: u64) -> Option<&TemplateVersion> {
        self.versions.iter().find(|version| version.number == number)
    }
}

impl Listed for LaunchTemplate {
    const FIELDS: &'static [Field<Self>] =
        &[Self::BY_NAME, Field::new(&["create-time"], |template, each| one(moment(template.created), each))];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl LaunchTemplate {
    pub const BY_NAME: Field<Self> = Field::new(&["launch-template-name"], |t, each| each(&t.name));
}

impl Resource for LaunchTemplate {
    const KIND: Kind = Kind {
        name: "launch-template",
        prefix: "lt",
        not_found: "InvalidLaunchTemplateId.NotFound",
        malformed: Some("InvalidLaunchTemplateId.Malformed"),
        noun: "launch template",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
