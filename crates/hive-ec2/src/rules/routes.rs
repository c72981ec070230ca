//! Routes: destinations unique in a table, targets of the same VPC, and whether a route still leads anywhere.

use hive_api::{ApiError, ApiResult};
use serde::Deserialize;

use crate::core::table::Resource;
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::instance::InstanceState;
use crate::model::internet_gateway::InternetGateway;
use crate::model::route_table::{Destination, Route, RouteTable, Target};
use crate::model::vpc_peering_connection::PeeringState;
use crate::rules::nat_gateways;

/// Destination and target as CreateRoute, ReplaceRoute and DeleteRoute share them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RouteRequest {
    pub route_table_id: String,
    pub destination_cidr_block: Option<String>,
    pub destination_ipv6_cidr_block: Option<String>,
    pub gateway_id: Option<String>,
    pub instance_id: Option<String>,
    pub network_interface_id: Option<String>,
    pub nat_gateway_id: Option<String>,
    pub egress_only_internet_gateway_id: Option<String>,
    pub vpc_peering_connection_id: Option<String>,
    pub local_target: Option<bool>,
}

impl RouteRequest {
    pub fn destination(&self) -> ApiResult<Destination> {
        destination(self.destination_cidr_block.as_deref(), self.destination_ipv6_cidr_block.as_deref())
    }

    /// Inside the VPC packets may be sent on through something that stands in it, and nowhere else.
    pub fn target(&self, account: &Account) -> ApiResult<Target> {
        let target = self.any_target(account)?;
        let vpc = account.vpcs.find(&account.route_tables.find(&self.route_table_id)?.vpc_id)?;
        let inside = match self.destination()? {
            Destination::V4(block) => vpc.cidrs.iter().any(|own| own.cidr.contains_block(block)),
            Destination::V6(block) => vpc.ipv6_cidrs.iter().any(|own| own.cidr.contains_block(block)),
        };
        let leads_out = matches!(
            target,
            Target::InternetGateway(_)
                | Target::EgressOnlyInternetGateway(_)
                | Target::VpcPeeringConnection(_)
        );
        if inside && leads_out {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "The destination CIDR block is equal to or more specific than one of this VPC's CIDR blocks. This \
                 route can target only an interface or an instance.",
            ));
        }
        Ok(target)
    }

    fn any_target(&self, account: &Account) -> ApiResult<Target> {
        let table = account.route_tables.find(&self.route_table_id)?;
        if self.local_target == Some(true) {
            return Ok(Target::Local);
        }
        if let Some(id) = &self.nat_gateway_id {
            let gateway = account.nat_gateways.find(id)?;
            return Ok(Target::NatGateway(gateway.id.clone()));
        }
        if let Some(id) = &self.egress_only_internet_gateway_id {
            let gateway = account.egress_only_internet_gateways.find(id)?;
            return Ok(Target::EgressOnlyInternetGateway(gateway.id.clone()));
        }
        if let Some(id) = &self.vpc_peering_connection_id {
            return peering(account, table, id);
        }
        match (&self.gateway_id, &self.network_interface_id, &self.instance_id) {
            (Some(id), None, None) if id == "local" => Ok(Target::Local),
            (Some(id), None, None) => gateway(account, table, id),
            (None, Some(id), None) => {
                Ok(Target::NetworkInterface(account.network_interfaces.find(id)?.id.clone()))
            }
            (None, None, Some(id)) => {
                let instance = account.instances.find(id)?;
                match instance.network_interfaces.as_slice() {
                    [only] => Ok(Target::NetworkInterface(only.clone())),
                    _ => Err(ApiError::client(
                        "InvalidInstanceID",
                        format!("There must be exactly one interface on instance '{id}'"),
                    )),
                }
            }
            _ => Err(ApiError::client("InvalidParameterCombination", "Exactly one target must be given")),
        }
    }
}

pub fn destination(v4: Option<&str>, v6: Option<&str>) -> ApiResult<Destination> {
    match (v4, v6) {
        (Some(text), None) => Ipv4Cidr::parameter("destinationCidrBlock", text).map(Destination::V4),
        (None, Some(text)) => Ipv6Cidr::parameter("destinationIpv6CidrBlock", text).map(Destination::V6),
        (None, None) => Err(ApiError::missing_parameter("destinationCidrBlock")),
        _ => Err(ApiError::invalid_combination("Only one destination may be given")),
    }
}

fn gateway(account: &Account, table: &RouteTable, id: &str) -> ApiResult<Target> {
    let gateway = account.internet_gateways.get(id).ok_or_else(|| {
        let known = InternetGateway::KIND.is_well_formed(id);
        if known {
            InternetGateway::KIND.not_found(id)
        } else {
            ApiError::client("InvalidGatewayID.NotFound", format!("The gateway ID '{id}' does not exist"))
        }
    })?;
    if gateway.vpc_id.as_ref() != Some(&table.vpc_id) {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!("route table {} and network gateway {id} belong to different networks", table.id),
        ));
    }
    Ok(Target::InternetGateway(gateway.id.clone()))
}

fn peering(account: &Account, table: &RouteTable, id: &str) -> ApiResult<Target> {
    let connection = account.vpc_peering_connections.find(id)?;
    let sides = [&connection.requester.vpc_id, &connection.accepter.vpc_id];
    if !sides.contains(&&table.vpc_id) {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!("route table {} is in neither VPC of {id}", table.id),
        ));
    }
    if !connection.state.is_open() {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!("{id} is {}", connection.state.name()),
        ));
    }
    Ok(Target::VpcPeeringConnection(connection.id.clone()))
}

pub fn not_found(table: &str) -> ApiError {
    ApiError::client(
        "InvalidRoute.NotFound",
        format!("no route with this destination in route table {table}"),
    )
}

/// A route whose target is gone, detached or stopped leads nowhere.
pub fn is_blackhole(account: &Account, table: &RouteTable, route: &Route) -> bool {
    match &route.target {
        Target::Local => false,
        Target::InternetGateway(id) => {
            account.internet_gateways.get(id).and_then(|g| g.vpc_id.as_ref()) != Some(&table.vpc_id)
        }
        Target::NatGateway(id) => !nat_gateways::is_alive(account, id),
        Target::EgressOnlyInternetGateway(id) => account.egress_only_internet_gateways.get(id).is_none(),
        Target::VpcPeeringConnection(id) => {
            account.vpc_peering_connections.get(id).is_none_or(|p| p.state != PeeringState::Active)
        }
        Target::NetworkInterface(id) => match account.network_interfaces.get(id).map(|i| &i.attachment) {
            Some(Some(attachment)) => account
                .instances
                .get(&attachment.instance_id)
                .is_none_or(|i| !matches!(i.state, InstanceState::Running | InstanceState::Pending)),
            _ => true,
        },
    }
}
