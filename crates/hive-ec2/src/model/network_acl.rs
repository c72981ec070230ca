//! Numbered allow and deny rules at the border of subnets.

use serde::{Deserialize, Serialize};

use super::cidr::{Ipv4Cidr, Ipv6Cidr};
use super::subnet::Subnet;
use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NetworkAcl {
    pub id: Id<NetworkAcl>,
    pub vpc_id: Id<Vpc>,
    pub is_default: bool,
    pub entries: Vec<AclEntry>,
    pub associations: Vec<AclAssociation>,
    pub tags: Tags,
}

impl Listed for NetworkAcl {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["network-acl-id"]),
        Self::BY_VPC,
        Self::BY_SUBNET,
        Self::BY_ASSOCIATION,
        Field::new(&["association.network-acl-id"], |acl, each| {
            if !acl.associations.is_empty() {
                one(&acl.id, each)
            }
        }),
        Field::new(&["default"], |acl, each| one(acl.is_default, each)),
        Field::new(&["entry.cidr"], |acl, each| {
            acl.entries
                .iter()
                .filter_map(|e| Some(e.cidr_block?.to_string()))
                .for_each(|value| one(value, each))
        }),
        Field::new(&["entry.egress"], |acl, each| {
            acl.entries.iter().map(|e| &e.egress).for_each(|value| one(value, each))
        }),
        Field::new(&["entry.icmp.code"], |acl, each| {
            acl.entries.iter().for_each(|e| maybe(e.icmp.map(|(_, code)| code), each))
        }),
        Field::new(&["entry.icmp.type"], |acl, each| {
            acl.entries.iter().for_each(|e| maybe(e.icmp.map(|(kind, _)| kind), each))
        }),
        Field::new(&["entry.ipv6-cidr"], |acl, each| {
            acl.entries
                .iter()
                .filter_map(|e| Some(e.ipv6_cidr_block?.to_string()))
                .for_each(|value| one(value, each))
        }),
        Field::new(&["entry.port-range.from"], |acl, each| {
            acl.entries.iter().for_each(|e| maybe(e.ports.map(|(from, _)| from), each))
        }),
        Field::new(&["entry.port-range.to"], |acl, each| {
            acl.entries.iter().for_each(|e| maybe(e.ports.map(|(_, to)| to), each))
        }),
        Field::new(&["entry.protocol"], |acl, each| {
            acl.entries.iter().map(|e| &e.protocol).for_each(|value| one(value, each))
        }),
        Field::new(&["entry.rule-action"], |acl, each| {
            acl.entries
                .iter()
                .map(|e| if e.allow { "allow".to_owned() } else { "deny".to_owned() })
                .for_each(|value| one(value, each))
        }),
        Field::new(&["entry.rule-number"], |acl, each| {
            acl.entries.iter().map(|e| &e.rule_number).for_each(|value| one(value, each))
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
impl NetworkAcl {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |a, each| each(&a.vpc_id));
    pub const BY_SUBNET: Field<Self> = Field::new(&["association.subnet-id"], |a, each| {
        a.associations.iter().for_each(|a| each(&a.subnet_id))
    });
    pub const BY_ASSOCIATION: Field<Self> = Field::new(&["association.association-id"], |a, each| {
        a.associations.iter().for_each(|a| each(&a.id))
    });
}

impl Resource for NetworkAcl {
    const KIND: Kind = Kind {
        name: "network-acl",
        prefix: "acl",
        not_found: "InvalidNetworkAclID.NotFound",
        malformed: Some("InvalidNetworkAclId.Malformed"),
        noun: "networkAcl ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AclEntry {
    pub rule_number: u32,
    pub egress: bool,
    pub protocol: String,
    pub allow: bool,
    pub cidr_block: Option<Ipv4Cidr>,
    pub ipv6_cidr_block: Option<Ipv6Cidr>,
    #[serde(default)]
    pub ports: Option<(i32, i32)>,
    /// Type and code.
    #[serde(default)]
    pub icmp: Option<(i32, i32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AclAssociation {
    pub id: String,
    pub subnet_id: Id<Subnet>,
}
