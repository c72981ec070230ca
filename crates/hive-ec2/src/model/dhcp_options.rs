//! What DHCP tells the guests of a VPC.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DhcpOptions {
    pub id: Id<DhcpOptions>,
    /// Option name and values, in EC2's names.
    pub configurations: Vec<(String, Vec<String>)>,
    pub tags: Tags,
}

impl Listed for DhcpOptions {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["dhcp-options-id"]),
        Field::new(&["key"], |options, each| {
            options.configurations.iter().map(|(key, _)| key.clone()).for_each(|value| one(value, each))
        }),
        Field::new(&["value"], |options, each| {
            options
                .configurations
                .iter()
                .flat_map(|(_, values)| values.clone())
                .for_each(|value| one(value, each))
        }),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

impl Resource for DhcpOptions {
    const KIND: Kind = Kind {
        name: "dhcp-options",
        prefix: "dopt",
        not_found: "InvalidDhcpOptionID.NotFound",
        // EC2's list of codes has `InvalidDhcpOptionsId.Malformed`. The provider's acceptance test asks EC2 for `does-not-exist`
        // and takes nothing but `NotFound`.
        malformed: None,
        noun: "dhcpOptions ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
