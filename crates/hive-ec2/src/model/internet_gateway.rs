//! The way from a VPC to the world.

use serde::{Deserialize, Serialize};

use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InternetGateway {
    pub id: Id<InternetGateway>,
    pub vpc_id: Option<Id<Vpc>>,
    pub tags: Tags,
}

impl Listed for InternetGateway {
    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

impl Resource for InternetGateway {
    const KIND: Kind = Kind {
        name: "internet-gateway",
        prefix: "igw",
        not_found: "InvalidInternetGatewayID.NotFound",
        malformed: "InvalidInternetGatewayId.Malformed",
        noun: "internetGateway ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
