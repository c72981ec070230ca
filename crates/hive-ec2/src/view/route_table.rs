//! `<routeTable>`

use serde::Serialize;

use super::{TagView, tags};
use crate::model::account::Account;
use crate::model::route_table::{
    AssociationTarget, Destination, Origin, RouteAssociation, RouteTable, Target,
};
use crate::rules::routes::{EndpointRoute, endpoint_routes, state};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteTableView {
    route_table_id: String,
    vpc_id: String,
    owner_id: String,
    route_set: Vec<RouteView>,
    association_set: Vec<AssociationView>,
    propagating_vgw_set: Vec<String>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RouteView {
    destination_cidr_block: Option<String>,
    destination_ipv6_cidr_block: Option<String>,
    destination_prefix_list_id: Option<&'static str>,
    gateway_id: Option<String>,
    instance_id: Option<String>,
    instance_owner_id: Option<String>,
    network_interface_id: Option<String>,
    nat_gateway_id: Option<String>,
    egress_only_internet_gateway_id: Option<String>,
    vpc_peering_connection_id: Option<String>,
    origin: Origin,
    state: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssociationView {
    route_table_association_id: String,
    route_table_id: String,
    subnet_id: Option<String>,
    gateway_id: Option<String>,
    main: bool,
    association_state: AssociationState,
}

#[derive(Serialize)]
pub struct AssociationState {
    pub state: &'static str,
}

fn association(association: &RouteAssociation, table: &str) -> AssociationView {
    AssociationView {
        route_table_association_id: association.id.clone(),
        route_table_id: table.to_owned(),
        subnet_id: match &association.target {
            AssociationTarget::Subnet(id) => Some(id.to_string()),
            _ => None,
        },
        gateway_id: match &association.target {
            AssociationTarget::InternetGateway(id) => Some(id.to_string()),
            _ => None,
        },
        main: association.target == AssociationTarget::Main,
        association_state: AssociationState { state: "associated" },
    }
}

fn endpoint_route(route: EndpointRoute<'_>) -> RouteView {
    RouteView {
        destination_prefix_list_id: Some(route.destination.id),
        gateway_id: Some(route.endpoint.id.to_string()),
        destination_cidr_block: None,
        destination_ipv6_cidr_block: None,
        instance_id: None,
        instance_owner_id: None,
        network_interface_id: None,
        nat_gateway_id: None,
        egress_only_internet_gateway_id: None,
        vpc_peering_connection_id: None,
        origin: EndpointRoute::ORIGIN,
        state: route.state(),
    }
}

pub fn route_table(table: &RouteTable, account: &Account) -> RouteTableView {
    let routes = table.routes.iter().map(|route| {
        let interface = match &route.target {
            Target::NetworkInterface(id) => Some(id),
            _ => None,
        };
        let instance = interface
            .and_then(|id| account.network_interfaces.get(id)?.attachment.as_ref())
            .map(|attachment| attachment.instance_id.to_string());
        RouteView {
            destination_cidr_block: match route.destination {
                Destination::V4(cidr) => Some(cidr.to_string()),
                Destination::V6(_) => None,
            },
            destination_ipv6_cidr_block: match route.destination {
                Destination::V6(cidr) => Some(cidr.to_string()),
                Destination::V4(_) => None,
            },
            gateway_id: match &route.target {
                Target::Local => Some("local".to_owned()),
                Target::InternetGateway(id) => Some(id.to_string()),
                _ => None,
            },
            nat_gateway_id: match &route.target {
                Target::NatGateway(id) => Some(id.to_string()),
                _ => None,
            },
            egress_only_internet_gateway_id: match &route.target {
                Target::EgressOnlyInternetGateway(id) => Some(id.to_string()),
                _ => None,
            },
            vpc_peering_connection_id: match &route.target {
                Target::VpcPeeringConnection(id) => Some(id.to_string()),
                _ => None,
            },
            destination_prefix_list_id: None,
            instance_owner_id: instance.as_ref().map(|_| account.id.to_string()),
            instance_id: instance,
            network_interface_id: interface.map(ToString::to_string),
            origin: route.origin,
            state: state(account, table, route),
        }
    });
    RouteTableView {
        route_table_id: table.id.to_string(),
        vpc_id: table.vpc_id.to_string(),
        owner_id: account.id.to_string(),
        route_set: routes.chain(endpoint_routes(account, table).map(endpoint_route)).collect(),
        association_set: table.associations.iter().map(|a| association(a, &table.id)).collect(),
        propagating_vgw_set: Vec::new(),
        tag_set: tags(&table.tags),
    }
}
