//! An elastic IP: a public address that stays until it is released.

use serde::{Deserialize, Serialize};

use crate::core::id::{Id, Kind};
use crate::core::index::{Field, maybe};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use std::net::Ipv4Addr;

use super::network_interface::NetworkInterface;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Address {
    pub id: Id<Address>,
    pub public_ip: Ipv4Addr,
    pub association: Option<AddressAssociation>,
    pub tags: Tags,
}

impl Listed for Address {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["allocation-id"]),
        Self::BY_PUBLIC_ADDRESS,
        Self::BY_ASSOCIATION,
        Self::BY_INTERFACE,
        Field::new(&["private-ip-address"], |address, each| {
            maybe(address.association.as_ref().map(|a| a.private_ip), each)
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
impl Address {
    pub const BY_PUBLIC_ADDRESS: Field<Self> =
        Field::new(&["public-ip"], |a, each| each(&a.public_ip.to_string()));
    pub const BY_ASSOCIATION: Field<Self> =
        Field::new(&["association-id"], |a, each| a.association.iter().for_each(|a| each(&a.id)));
    pub const BY_INTERFACE: Field<Self> = Field::new(&["network-interface-id"], |a, each| {
        a.association.iter().for_each(|a| each(&a.network_interface_id))
    });
}

impl Resource for Address {
    const KIND: Kind = Kind {
        name: "elastic-ip",
        prefix: "eipalloc",
        not_found: "InvalidAllocationID.NotFound",
        malformed: None,
        noun: "allocation ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AddressAssociation {
    /// `eipassoc-…`
    pub id: String,
    pub network_interface_id: Id<NetworkInterface>,
    pub private_ip: Ipv4Addr,
}

pub const ASSOCIATION_KIND: Kind = Kind {
    name: "elastic-ip-association",
    prefix: "eipassoc",
    not_found: "InvalidAssociationID.NotFound",
    malformed: None,
    noun: "association ID",
};
