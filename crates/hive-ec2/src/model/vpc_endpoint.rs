//! A way from a VPC to a service: by routes (gateway) or by interfaces in subnets.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::network_interface::NetworkInterface;
use super::route_table::RouteTable;
use super::security_group::SecurityGroup;
use super::subnet::Subnet;
use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VpcEndpoint {
    pub id: Id<VpcEndpoint>,
    pub vpc_id: Id<Vpc>,
    pub service_name: String,
    pub kind: EndpointKind,
    pub state: EndpointState,
    pub policy_document: String,
    pub route_table_ids: Vec<Id<RouteTable>>,
    /// A subnet and the interface that was made in it.
    pub interfaces: Vec<(Id<Subnet>, Id<NetworkInterface>)>,
    pub groups: Vec<Id<SecurityGroup>>,
    pub private_dns_enabled: bool,
    pub created: Timestamp,
    pub tags: Tags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndpointKind {
    Gateway,
    Interface,
}

impl EndpointKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Gateway => "Gateway",
            Self::Interface => "Interface",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointState {
    Pending,
    Available,
    Deleting,
    Failed,
}

impl EndpointState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Available => "available",
            Self::Deleting => "deleting",
            Self::Failed => "failed",
        }
    }
}

impl Listed for VpcEndpoint {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["vpc-endpoint-id"]),
        Self::BY_VPC,
        Self::BY_SERVICE,
        Self::BY_GROUP,
        Self::BY_ROUTE_TABLE,
        Field::new(&["vpc-endpoint-state"], |e, each| one(e.state.name(), each)),
        Field::new(&["vpc-endpoint-type"], |e, each| one(e.kind.name(), each)),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl VpcEndpoint {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |e, each| each(&e.vpc_id));
    pub const BY_SERVICE: Field<Self> = Field::new(&["service-name"], |e, each| each(&e.service_name));
    pub const BY_GROUP: Field<Self> =
        Field::new(&["(security groups)"], |e, each| e.groups.iter().for_each(|id| each(id)));
    pub const BY_ROUTE_TABLE: Field<Self> =
        Field::new(&["(route tables)"], |e, each| e.route_table_ids.iter().for_each(|id| each(id)));
}

impl Resource for VpcEndpoint {
    const KIND: Kind = Kind {
        name: "vpc-endpoint",
        prefix: "vpce",
        not_found: "InvalidVpcEndpointId.NotFound",
        malformed: Some("InvalidVpcEndpointId.Malformed"),
        noun: "Vpc Endpoint Id",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
