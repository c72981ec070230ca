//! A part of a VPC in one zone.

use serde::{Deserialize, Serialize};

use super::cidr::{Ipv4Cidr, Ipv6Cidr};
use super::vpc::{CidrAssociation, Vpc};
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe, one, word};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Subnet {
    pub id: Id<Subnet>,
    pub vpc_id: Id<Vpc>,
    pub cidr_block: Ipv4Cidr,
    pub ipv6_cidr: Option<CidrAssociation<Ipv6Cidr>>,
    pub availability_zone: String,
    pub default_for_az: bool,
    pub map_public_ip_on_launch: bool,
    pub assign_ipv6_address_on_creation: bool,
    pub enable_dns64: bool,
    pub private_dns_hostname_type: HostnameType,
    pub enable_resource_name_dns_a_record: bool,
    pub enable_resource_name_dns_aaaa_record: bool,
    pub tags: Tags,
}

impl Listed for Subnet {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["subnet-id"]),
        Self::BY_VPC,
        Self::BY_ZONE,
        Self::BY_IPV6_ASSOCIATION,
        Field::new(&["cidr", "cidr-block", "cidrBlock"], |subnet, each| one(subnet.cidr_block, each)),
        Field::new(&["default-for-az", "defaultForAz"], |subnet, each| one(subnet.default_for_az, each)),
        Field::usually("false", &["enable-dns64"], |subnet, each| one(subnet.enable_dns64, each)),
        Field::new(&["ipv6-cidr-block-association.ipv6-cidr-block"], |subnet, each| {
            maybe(subnet.ipv6_cidr.as_ref().map(|a| a.cidr), each)
        }),
        Field::new(&["ipv6-cidr-block-association.state"], |subnet, each| {
            maybe(subnet.ipv6_cidr.as_ref().map(|_| "associated"), each)
        }),
        Field::new(&["map-public-ip-on-launch"], |subnet, each| one(subnet.map_public_ip_on_launch, each)),
        Field::usually(
            "false",
            &["private-dns-name-options-on-launch.enable-resource-name-dns-a-record"],
            |subnet, each| one(subnet.enable_resource_name_dns_a_record, each),
        ),
        Field::usually(
            "false",
            &["private-dns-name-options-on-launch.enable-resource-name-dns-aaaa-record"],
            |subnet, each| one(subnet.enable_resource_name_dns_aaaa_record, each),
        ),
        Field::usually("ip-name", &["private-dns-name-options-on-launch.hostname-type"], |subnet, each| {
            word(subnet.private_dns_hostname_type, each)
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
impl Subnet {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |s, each| each(&s.vpc_id));
    pub const BY_ZONE: Field<Self> =
        Field::new(&["availability-zone", "availabilityZone"], |s, each| each(&s.availability_zone));
    pub const BY_IPV6_ASSOCIATION: Field<Self> =
        Field::new(&["ipv6-cidr-block-association.association-id"], |s, each| {
            s.ipv6_cidr.iter().for_each(|association| each(&association.id));
        });
}

impl Resource for Subnet {
    const KIND: Kind = Kind {
        name: "subnet",
        prefix: "subnet",
        not_found: "InvalidSubnetID.NotFound",
        malformed: Some("InvalidSubnetID.Malformed"),
        noun: "subnet ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

/// What the private DNS names of instances are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostnameType {
    IpName,
    ResourceName,
}
