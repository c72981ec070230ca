//! Routes and the subnets that follow them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cidr::{Ipv4Cidr, Ipv6Cidr};
use super::egress_only_internet_gateway::EgressOnlyInternetGateway;
use super::internet_gateway::InternetGateway;
use super::nat_gateway::NatGateway;
use super::network_interface::NetworkInterface;
use super::subnet::Subnet;
use super::vpc::Vpc;
use super::vpc_peering_connection::VpcPeeringConnection;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RouteTable {
    pub id: Id<RouteTable>,
    pub vpc_id: Id<Vpc>,
    pub routes: Vec<Route>,
    pub associations: Vec<RouteAssociation>,
    pub tags: Tags,
}

impl Listed for RouteTable {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["route-table-id"]),
        Self::BY_VPC,
        Self::BY_ASSOCIATION,
        Self::BY_SUBNET,
        Self::BY_INTERFACE,
        Field::new(&["association.gateway-id"], |table, each| {
            for association in &table.associations {
                if let AssociationTarget::InternetGateway(id) = &association.target {
                    each(id);
                }
            }
        }),
        Field::new(&["association.main"], |table, each| {
            if !table.associations.is_empty() {
                one(table.is_main(), each);
            }
        }),
        Field::new(&["association.route-table-id"], |table, each| {
            if !table.associations.is_empty() {
                each(&table.id);
            }
        }),
        Field::new(&["route.destination-cidr-block", "route.destination-ipv6-cidr-block"], |table, each| {
            table.routes.iter().for_each(|route| one(route.destination, each))
        }),
        Self::BY_GATEWAY,
        Self::BY_ORIGIN,
        Field::new(&["route.egress-only-internet-gateway-id"], |table, each| {
            for route in &table.routes {
                if let Target::EgressOnlyInternetGateway(id) = &route.target {
                    each(id);
                }
            }
        }),
        Field::new(&["route.nat-gateway-id"], |table, each| {
            for route in &table.routes {
                if let Target::NatGateway(id) = &route.target {
                    each(id);
                }
            }
        }),
        Field::new(&["route.vpc-peering-connection-id"], |table, each| {
            for route in &table.routes {
                if let Target::VpcPeeringConnection(id) = &route.target {
                    each(id);
                }
            }
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
impl RouteTable {
    pub const BY_VPC: Field<Self> = Field::new(&["vpc-id"], |t, each| each(&t.vpc_id));
    pub const BY_ASSOCIATION: Field<Self> =
        Field::new(&["association.route-table-association-id"], |t, each| {
            t.associations.iter().for_each(|a| each(&a.id))
        });
    /// Of its own routes: those of gateway endpoints are not kept here.
    pub const BY_GATEWAY: Field<Self> = Field::new(&["(gateway that a route leads to)"], |t, each| {
        for route in &t.routes {
            match &route.target {
                Target::Local => each("local"),
                Target::InternetGateway(id) => each(id),
                _ => {}
            }
        }
    });
    /// Likewise.
    pub const BY_ORIGIN: Field<Self> = Field::new(&["(origin of a route)"], |t, each| {
        t.routes.iter().for_each(|route| one(route.origin, each))
    });
    pub const BY_INTERFACE: Field<Self> = Field::new(&["(interface that a route leads to)"], |t, each| {
        t.routes.iter().for_each(|route| {
            if let Target::NetworkInterface(id) = &route.target {
                each(id);
            }
        })
    });
    pub const BY_SUBNET: Field<Self> = Field::new(&["association.subnet-id"], |t, each| {
        t.associations.iter().for_each(|association| {
            if let AssociationTarget::Subnet(id) = &association.target {
                each(id);
            }
        })
    });
}

impl Resource for RouteTable {
    const KIND: Kind = Kind {
        name: "route-table",
        prefix: "rtb",
        not_found: "InvalidRouteTableID.NotFound",
        malformed: Some("InvalidRouteTableId.Malformed"),
        noun: "routeTable ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Route {
    pub destination: Destination,
    pub target: Target,
    pub origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Destination {
    V4(Ipv4Cidr),
    V6(Ipv6Cidr),
}

impl Destination {
    pub fn contains(self, other: Destination) -> bool {
        match (self, other) {
            (Destination::V4(block), Destination::V4(other)) => block.contains_block(other),
            (Destination::V6(block), Destination::V6(other)) => block.contains_block(other),
            _ => false,
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::V4(cidr) => cidr.fmt(f),
            Destination::V6(cidr) => cidr.fmt(f),
        }
    }
}

/// Where a route leads. Whether that still works is judged when it is looked at (`blackhole`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    Local,
    InternetGateway(Id<InternetGateway>),
    NetworkInterface(Id<NetworkInterface>),
    NatGateway(Id<NatGateway>),
    EgressOnlyInternetGateway(Id<EgressOnlyInternetGateway>),
    VpcPeeringConnection(Id<VpcPeeringConnection>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    CreateRouteTable,
    CreateRoute,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RouteAssociation {
    pub id: String,
    pub target: AssociationTarget,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AssociationTarget {
    /// The VPC's subnets that name no other table.
    Main,
    Subnet(Id<Subnet>),
    InternetGateway(Id<InternetGateway>),
}

impl RouteTable {
    pub fn is_main(&self) -> bool {
        self.associations.iter().any(|association| association.target == AssociationTarget::Main)
    }
}
