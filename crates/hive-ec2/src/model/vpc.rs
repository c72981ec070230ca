//! A virtual network: address blocks and the switches of its DNS.

use serde::{Deserialize, Serialize};

use super::cidr::{Ipv4Cidr, Ipv6Cidr};
use super::dhcp_options::DhcpOptions;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Vpc {
    pub id: Id<Vpc>,
    /// The first is the VPC's own block and stays.
    pub cidrs: Vec<CidrAssociation<Ipv4Cidr>>,
    pub ipv6_cidrs: Vec<CidrAssociation<Ipv6Cidr>>,
    pub dhcp_options_id: Option<Id<DhcpOptions>>,
    pub instance_tenancy: Tenancy,
    pub is_default: bool,
    pub enable_dns_support: bool,
    pub enable_dns_hostnames: bool,
    pub enable_network_address_usage_metrics: bool,
    pub tags: Tags,
}

impl Listed for Vpc {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["vpc-id"]),
        Self::BY_DEFAULT,
        Self::BY_CIDR_ASSOCIATION,
        Self::BY_DHCP_OPTIONS,
        Field::new(&["cidr", "cidr-block"], |vpc, each| maybe(vpc.cidr_block(), each)),
        Field::new(&["cidr-block-association.cidr-block"], |vpc, each| {
            vpc.cidrs.iter().map(|a| &a.cidr).for_each(|value| one(value, each))
        }),
        Field::new(&["ipv6-cidr-block-association.association-id"], |vpc, each| {
            vpc.ipv6_cidrs.iter().map(|a| &a.id).for_each(|value| one(value, each))
        }),
        Field::new(&["ipv6-cidr-block-association.ipv6-cidr-block"], |vpc, each| {
            vpc.ipv6_cidrs.iter().map(|a| &a.cidr).for_each(|value| one(value, each))
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
impl Vpc {
    pub const BY_DEFAULT: Field<Self> =
        Field::new(&["is-default", "isDefault"], |v, each| each(if v.is_default { "true" } else { "false" }));
    pub const BY_CIDR_ASSOCIATION: Field<Self> =
        Field::new(&["cidr-block-association.association-id"], |v, each| {
            v.cidrs.iter().for_each(|a| each(&a.id))
        });
    pub const BY_DHCP_OPTIONS: Field<Self> =
        Field::new(&["dhcp-options-id"], |v, each| v.dhcp_options_id.iter().for_each(|o| each(o)));
}

impl Resource for Vpc {
    const KIND: Kind = Kind {
        name: "vpc",
        prefix: "vpc",
        not_found: "InvalidVpcID.NotFound",
        malformed: Some("InvalidVpcID.Malformed"),
        noun: "vpc ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CidrAssociation<C> {
    pub id: String,
    pub cidr: C,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tenancy {
    Default,
    Dedicated,
    Host,
}

impl Vpc {
    pub fn cidr_block(&self) -> Option<Ipv4Cidr> {
        self.cidrs.first().map(|association| association.cidr)
    }
}
