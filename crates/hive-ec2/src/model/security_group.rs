//! Allow rules around network interfaces; every rule has an id of its own.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cidr::{Ipv4Cidr, Ipv6Cidr};
use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SecurityGroup {
    pub id: Id<SecurityGroup>,
    pub name: String,
    pub description: String,
    pub vpc_id: Id<Vpc>,
    pub rules: Vec<Rule>,
    pub tags: Tags,
}

impl Listed for SecurityGroup {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["group-id"]),
        Self::BY_VPC,
        Self::BY_NAME,
        Self::BY_RULE,
        Self::BY_PEER,
        Field::new(&["description"], |group, each| one(&group.description, each)),
        Field::new(
            &[
                "egress.ip-permission.cidr",
                "egress.ip-permission.group-id",
                "egress.ip-permission.prefix-list-id",
            ],
            |group, each| group.rules(true).for_each(|rule| one(&rule.peer, each)),
        ),
        Field::new(&["egress.ip-permission.from-port"], |group, each| {
            group.rules(true).for_each(|rule| maybe(rule.ports.map(|(from, _)| from), each))
        }),
        Field::new(&["egress.ip-permission.ipv6-cidr"], |group, each| {
            group.rules(true).for_each(|rule| {
                if let Peer::V6(cidr) = rule.peer {
                    one(cidr, each);
                }
            })
        }),
        Field::new(&["egress.ip-permission.protocol"], |group, each| {
            group.rules(true).for_each(|rule| one(rule.protocol, each))
        }),
        Field::new(&["egress.ip-permission.to-port"], |group, each| {
            group.rules(true).for_each(|rule| maybe(rule.ports.map(|(_, to)| to), each))
        }),
        Field::new(
            &[
                "ip-permission.cidr",
                "ip-permission.group-id",
                "ip-permission.ipv6-cidr",
                "ip-permission.prefix-list-id",
            ],
            |group, each| group.rules(false).for_each(|rule| one(&rule.peer, each)),
        ),
        Field::new(&["ip-permission.from-port"], |group, each| {
            group.rules(false).for_each(|rule| maybe(rule.ports.map(|(from, _)| from), each))
        }),
        Field::new(&["ip-permission.protocol"], |group, each| {
            group.rules(false).for_each(|rule| one(rule.protocol, each))
        }),
        Field::new(&["ip-permission.to-port"], |group, each| {
            group.rules(false).for_each(|rule| maybe(rule.ports.map(|(_, to)| to), each))
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
impl SecurityGroup {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |g, each| each(&g.vpc_id));
    pub const BY_NAME: Field<Self> = Field::new(&["group-name"], |g, each| each(&g.name));
    pub const BY_RULE: Field<Self> =
        Field::new(&["(rule)"], |g, each| g.rules.iter().for_each(|r| each(&r.id)));
    pub const BY_PEER: Field<Self> = Field::new(&["(groups that its rules name)"], |g, each| {
        g.rules.iter().for_each(|rule| {
            if let Peer::Group(peer) = &rule.peer {
                each(peer);
            }
        })
    });
}

impl Resource for SecurityGroup {
    const KIND: Kind = Kind {
        name: "security-group",
        prefix: "sg",
        not_found: "InvalidGroup.NotFound",
        malformed: Some("InvalidGroupId.Malformed"),
        noun: "security group",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rule {
    /// `sgr-…`
    pub id: String,
    pub egress: bool,
    pub protocol: Protocol,
    /// Ports, or ICMP type and code; both absent when the protocol has none or all are meant.
    pub ports: Option<(i32, i32)>,
    pub peer: Peer,
    pub description: Option<String>,
    pub tags: Tags,
}

/// Who is on the other side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Peer {
    V4(Ipv4Cidr),
    V6(Ipv6Cidr),
    Group(Id<SecurityGroup>),
    /// One of a service's (`data::endpoint_services`).
    PrefixList(String),
}

/// In EC2's names: a well-known one by name, others by number. There is no way to write "unknown".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Protocol {
    All,
    Tcp,
    Udp,
    Icmp,
    Icmpv6,
    Number(u8),
}

/// Ranges and groups look different, so one list serves the filters on both.
impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::V4(cidr) => cidr.fmt(f),
            Peer::V6(cidr) => cidr.fmt(f),
            Peer::Group(id) => id.fmt(f),
            Peer::PrefixList(id) => id.fmt(f),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Protocol::All => f.write_str("-1"),
            Protocol::Tcp => f.write_str("tcp"),
            Protocol::Udp => f.write_str("udp"),
            Protocol::Icmp => f.write_str("icmp"),
            Protocol::Icmpv6 => f.write_str("icmpv6"),
            Protocol::Number(number) => number.fmt(f),
        }
    }
}

impl SecurityGroup {
    /// Those of one direction.
    fn rules(&self, egress: bool) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.egress == egress)
    }
}

impl Rule {
    /// Whether both allow the same; ids, descriptions and tags do not count.
    pub fn same_permission(&self, other: &Rule) -> bool {
        self.egress == other.egress
            && self.protocol == other.protocol
            && self.ports == other.ports
            && self.peer == other.peer
    }
}

pub const RULE_KIND: Kind = Kind {
    name: "security-group-rule",
    prefix: "sgr",
    not_found: "InvalidSecurityGroupRuleId.NotFound",
    malformed: Some("InvalidSecurityGroupRuleId.Malformed"),
    noun: "security group rule ID",
};
