//! How the instances of a group shall lie to each other.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlacementGroup {
    pub id: Id<PlacementGroup>,
    pub name: String,
    pub strategy: Strategy,
    pub partition_count: Option<u32>,
    pub spread_level: Option<SpreadLevel>,
    pub tags: Tags,
}

impl Listed for PlacementGroup {
    const FIELDS: &'static [Field<Self>] = &[
        Self::BY_NAME,
        Field::new(&["spread-level"], |group, each| {
            maybe(group.spread_level.map(|level| format!("{level:?}").to_lowercase()), each)
        }),
        Field::new(&["strategy"], |group, each| each(&format!("{:?}", group.strategy).to_lowercase())),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl PlacementGroup {
    pub const BY_NAME: Field<Self> = Field::new(&["group-name"], |g, each| each(&g.name));
}

impl Resource for PlacementGroup {
    const KIND: Kind = Kind {
        name: "placement-group",
        prefix: "pg",
        not_found: "InvalidPlacementGroup.Unknown",
        malformed: Some("InvalidPlacementGroupId.Malformed"),
        noun: "placement group",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    Cluster,
    Partition,
    Spread,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpreadLevel {
    Host,
    Rack,
}
