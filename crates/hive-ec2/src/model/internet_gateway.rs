//! The way from a VPC to the world.

use serde::{Deserialize, Serialize};

use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InternetGateway {
    pub id: Id<InternetGateway>,
    pub vpc_id: Option<Id<Vpc>>,
    pub tags: Tags,
}

impl Listed for InternetGateway {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["internet-gateway-id"]),
        Self::BY_VPC,
        Field::new(&["attachment.state"], |gateway, each| {
            maybe(gateway.vpc_id.as_ref().map(|_| "available"), each)
        }),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl InternetGateway {
    pub const BY_VPC: Field<Self> =
        Field::new(&["attachment.vpc-id"], |g, each| g.vpc_id.iter().for_each(|v| each(v)));
}

impl Resource for InternetGateway {
    const KIND: Kind = Kind {
        name: "internet-gateway",
        prefix: "igw",
        not_found: "InvalidInternetGatewayID.NotFound",
        malformed: Some("InvalidInternetGatewayId.Malformed"),
        noun: "internetGateway ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
