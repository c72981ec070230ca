//! What DHCP tells the guests of a VPC.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
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
        malformed: "InvalidDhcpOptionsId.Malformed",
        noun: "dhcpOptions ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
