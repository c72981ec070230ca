//! A NAT gateway: an interface in a subnet through which others go out, with an elastic address if it is public.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::network_interface::NetworkInterface;
use super::subnet::Subnet;
use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::Field;
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NatGateway {
    pub id: Id<NatGateway>,
    pub subnet_id: Id<Subnet>,
    pub vpc_id: Id<Vpc>,
    pub connectivity: Connectivity,
    pub state: NatGatewayState,
    pub created: Timestamp,
    /// Deleted gateways are described for an hour.
    pub deleted: Option<Timestamp>,
    /// Gone with the gateway, though its id stays described.
    pub network_interface_id: Id<NetworkInterface>,
    pub private_ip: std::net::Ipv4Addr,
    pub allocation_id: Option<Id<Address>>,
    pub public_ip: Option<std::net::Ipv4Addr>,
    pub association_id: Option<String>,
    /// Code and message, of one that failed.
    #[serde(default)]
    pub failure: Option<(String, String)>,
    pub tags: Tags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Connectivity {
    Public,
    Private,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NatGatewayState {
    Pending,
    Available,
    Deleting,
    Deleted,
    Failed,
}

impl Listed for NatGateway {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["nat-gateway-id"]),
        Self::BY_VPC,
        Self::BY_SUBNET,
        Field::new(&["state"], |gateway, each| each(&format!("{:?}", gateway.state).to_lowercase())),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl NatGateway {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |g, each| each(&g.vpc_id));
    pub const BY_SUBNET: Field<Self> = Field::new(&["subnet-id"], |g, each| each(&g.subnet_id));
}

impl Resource for NatGateway {
    const KIND: Kind = Kind {
        name: "natgateway",
        prefix: "nat",
        not_found: "NatGatewayNotFound",
        malformed: Some("NatGatewayMalformed"),
        noun: "NAT gateway",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
