//! The way out for IPv6, and only out.

use serde::{Deserialize, Serialize};

use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::Field;
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EgressOnlyInternetGateway {
    pub id: Id<EgressOnlyInternetGateway>,
    pub vpc_id: Id<Vpc>,
    pub tags: Tags,
}

impl Listed for EgressOnlyInternetGateway {
    const FIELDS: &'static [Field<Self>] = &[Field::key(&["egress-only-internet-gateway-id"]), Self::BY_VPC];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl EgressOnlyInternetGateway {
    pub const BY_VPC: Field<Self> = Field::new(&["(VPC)"], |g, each| each(&g.vpc_id));
}

impl Resource for EgressOnlyInternetGateway {
    const KIND: Kind = Kind {
        name: "egress-only-internet-gateway",
        prefix: "eigw",
        not_found: "InvalidGatewayID.NotFound",
        malformed: Some("InvalidEgressOnlyInternetGatewayId.Malformed"),
        noun: "eigw ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
