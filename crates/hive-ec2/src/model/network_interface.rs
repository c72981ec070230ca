//! A network card in a subnet: its addresses, its security groups, the instance it is plugged into.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;
use std::net::Ipv4Addr;

use jiff::Timestamp;

use super::instance::Instance;
use super::security_group::SecurityGroup;
use super::subnet::Subnet;
use super::volume::AttachmentState;
use super::vpc::Vpc;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NetworkInterface {
    pub id: Id<NetworkInterface>,
    pub subnet_id: Id<Subnet>,
    pub vpc_id: Id<Vpc>,
    pub availability_zone: String,
    pub description: String,
    pub mac_address: String,
    /// The first is the primary one.
    pub private_ips: Vec<Ipv4Addr>,
    pub groups: Vec<Id<SecurityGroup>>,
    pub source_dest_check: bool,
    /// A public address that comes and goes with the instance (`rules/addresses.rs` alone says when); elastic ones are in
    /// `Address`.
    pub public_ip: Option<Ipv4Addr>,
    /// Its instance was launched with one: it gets another when it has lost it.
    #[serde(default)]
    pub wants_public_ip: bool,
    pub attachment: Option<InterfaceAttachment>,
    /// The gateway that made it and alone may take it away.
    #[serde(default)]
    pub managed_by: Option<String>,
    /// The attachment that ended last and when: shown as `detached` for a while, since clients wait to see it.
    #[serde(default)]
    pub detached: Option<(InterfaceAttachment, Timestamp)>,
    pub tags: Tags,
}

impl Listed for NetworkInterface {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["network-interface-id"]),
        Self::BY_VPC,
        Self::BY_SUBNET,
        Self::BY_GROUP,
        Self::BY_INSTANCE,
        Self::BY_ATTACHMENT,
        Self::BY_ADDRESS,
        Self::BY_PUBLIC_ADDRESS,
        Self::BY_PRIMARY_ADDRESS,
        Self::BY_ANY_ADDRESS,
        Self::BY_ZONE,
        // Who has an address has a primary one, too.
        Field::usually("true", &["addresses.primary"], |i, each| {
            let addresses = i.private_ips.len().min(2);
            ["true", "false"].into_iter().take(addresses).for_each(each)
        }),
        Field::new(&["attachment.attach-time"], |i, each| {
            maybe(i.last_attachment().map(|(a, _)| moment(a.attached)), each)
        }),
        Field::usually("true", &["attachment.delete-on-termination"], |i, each| {
            maybe(i.attachment.as_ref().map(|a| a.delete_on_termination), each)
        }),
        Field::usually("0", &["attachment.device-index"], |i, each| {
            maybe(i.attachment.as_ref().map(|a| a.device_index), each)
        }),
        Field::new(&["attachment.status"], |i, each| {
            maybe(i.last_attachment().map(|(_, status)| status), each)
        }),
        Field::new(&["description"], |i, each| one(&i.description, each)),
        Field::usually("interface", &["interface-type"], |i, each| each(i.kind())),
        Field::new(&["mac-address"], |i, each| one(&i.mac_address, each)),
        Field::usually("false", &["requester-managed"], |i, each| one(i.managed_by.is_some(), each)),
        Field::usually("true", &["source-dest-check"], |i, each| one(i.source_dest_check, each)),
        Field::new(&["status"], |i, each| {
            one(if i.attachment.is_some() || i.managed_by.is_some() { "in-use" } else { "available" }, each)
        }),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }

    /// As many of its subnet's addresses are taken.
    fn tally(&self) -> Option<(&str, u64)> {
        Some((&self.subnet_id, self.private_ips.len() as u64))
    }
}

/// What it is looked up by.
impl NetworkInterface {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |i, each| each(&i.vpc_id));
    pub const BY_SUBNET: Field<Self> = Field::new(&["subnet-id"], |i, each| each(&i.subnet_id));
    pub const BY_GROUP: Field<Self> =
        Field::new(&["group-id"], |i, each| i.groups.iter().for_each(|g| each(g)));
    pub const BY_INSTANCE: Field<Self> = Field::new(&["attachment.instance-id"], |i, each| {
        i.attachment.iter().for_each(|a| each(&a.instance_id))
    });
    pub const BY_ATTACHMENT: Field<Self> = Field::new(&["attachment.attachment-id"], |i, each| {
        i.last_attachment().iter().for_each(|(a, _)| each(&a.id))
    });
    pub const BY_ADDRESS: Field<Self> = Field::new(&["(subnet and address)"], |i, each| {
        i.private_ips.iter().for_each(|ip| each(&Self::address_in(&i.subnet_id, *ip)))
    });
    pub const BY_PRIMARY_ADDRESS: Field<Self> =
        Field::new(&["private-ip-address"], |i, each| maybe(i.primary_ip(), each));
    pub const BY_ANY_ADDRESS: Field<Self> = Field::new(&["addresses.private-ip-address"], |i, each| {
        i.private_ips.iter().for_each(|value| one(value, each))
    });
    pub const BY_ZONE: Field<Self> = Field::new(&["availability-zone"], |i, each| each(&i.availability_zone));
    pub const BY_PUBLIC_ADDRESS: Field<Self> = Field::new(&["(public address of its own)"], |i, each| {
        i.public_ip.iter().for_each(|ip| each(&ip.to_string()))
    });
}

impl Resource for NetworkInterface {
    const KIND: Kind = Kind {
        name: "network-interface",
        prefix: "eni",
        not_found: "InvalidNetworkInterfaceID.NotFound",
        malformed: Some("InvalidNetworkInterfaceId.Malformed"),
        noun: "networkInterface ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InterfaceAttachment {
    pub id: String,
    #[serde(default)]
    pub state: AttachmentState,
    pub instance_id: Id<Instance>,
    pub device_index: u32,
    pub attached: Timestamp,
    pub delete_on_termination: bool,
}

pub const ATTACHMENT_KIND: Kind = Kind {
    name: "network-interface-attachment",
    prefix: "eni-attach",
    not_found: "InvalidAttachmentID.NotFound",
    malformed: Some("InvalidNetworkInterfaceAttachmentId.Malformed"),
    noun: "interface attachment",
};

impl NetworkInterface {
    pub fn primary_ip(&self) -> Option<Ipv4Addr> {
        self.private_ips.first().copied()
    }

    /// As answers call it: what made it.
    pub fn kind(&self) -> &'static str {
        match self.managed_by.as_deref() {
            None => "interface",
            Some(gateway) if gateway.starts_with("nat-") => "nat_gateway",
            Some(_) => "vpc_endpoint",
        }
    }

    /// An address by which it is looked up: the same one may be in use in another subnet.
    pub fn address_in(subnet: &str, address: Ipv4Addr) -> String {
        format!("{subnet} {address}")
    }

    /// The attachment there is, or the one that ended a moment ago.
    pub fn last_attachment(&self) -> Option<(&InterfaceAttachment, &'static str)> {
        let now = self.attachment.as_ref().map(|attachment| (attachment, attachment.state.name()));
        now.or_else(|| self.detached.as_ref().map(|(attachment, _)| (attachment, "detached")))
    }
}
