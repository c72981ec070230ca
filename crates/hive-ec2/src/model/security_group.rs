//! Allow rules around network interfaces; every rule has an id of its own.

use serde::{Deserialize, Serialize};

use super::cidr::{Ipv4Cidr, Ipv6Cidr};
use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::Field;
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
        Field::new(&["security-group-rule-id"], |g, each| g.rules.iter().for_each(|r| each(&r.id)));
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
        malformed: "InvalidGroupId.Malformed",
        noun: "security group",
    };
    const INDEXED: &'static [Field<Self>] = &[Self::BY_VPC, Self::BY_NAME, Self::BY_RULE, Self::BY_PEER];

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
    malformed: "InvalidSecurityGroupRuleId.Malformed",
    noun: "security group rule ID",
};
