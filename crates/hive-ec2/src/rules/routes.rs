//! Routes: destinations unique in a table, targets of the same VPC, and whether a route still leads anywhere.

use hive_api::{ApiError, ApiResult};
use serde::Deserialize;

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::table::Resource;
use crate::data::endpoint_services::{self, PrefixList};
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::instance::InstanceState;
use crate::model::internet_gateway::InternetGateway;
use crate::model::nat_gateway::NatGateway;
use crate::model::route_table::{Destination, Origin, Route, RouteTable, Target};
use crate::model::vpc::Vpc;
use crate::model::vpc_endpoint::{EndpointState, VpcEndpoint};
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
    pub fn target(&self, call: &Call<'_>) -> ApiResult<Target> {
        let account = &*call.account;
        let table = account.route_tables.find(&self.route_table_id)?;
        let target = self.any_target(call, table)?;
        let vpc = account.vpcs.find(&table.vpc_id)?;
        let destination = self.destination()?;
        if matches!((&destination, &target), (Destination::V4(_), Target::EgressOnlyInternetGateway(_))) {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "An egress-only internet gateway is for IPv6 traffic only: the destination must be an IPv6 CIDR block",
            ));
        }
        let inside = match destination {
            Destination::V4(block) => vpc.cidrs.iter().any(|own| own.cidr.contains_block(block)),
            Destination::V6(block) => vpc.ipv6_cidrs.iter().any(|own| own.cidr.contains_block(block)),
        };
        let leads_out = matches!(
            target,
            Target::InternetGateway(_)
                | Target::EgressOnlyInternetGateway(_)
                | Target::VpcPeeringConnection(_)
        );
        if !inside && target == Target::Local {
            return Err(ApiError::invalid_value(
                "gatewayId",
                "local",
                "The destination is not in one of this VPC's CIDR blocks.",
            ));
        }
        if inside && leads_out {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "The destination CIDR block is equal to or more specific than one of this VPC's CIDR blocks. This \
                 route can target only an interface or an instance.",
            ));
        }
        Ok(target)
    }

    /// What the one parameter means that names a target.
    fn any_target(&self, call: &Call<'_>, table: &RouteTable) -> ApiResult<Target> {
        let named: [(&Option<String>, Find); 6] = [
            (&self.gateway_id, gateway),
            (&self.nat_gateway_id, nat_gateway),
            (&self.egress_only_internet_gateway_id, egress_only),
            (&self.network_interface_id, interface),
            (&self.instance_id, instance),
            (&self.vpc_peering_connection_id, peering),
        ];
        let mut named = named.into_iter().filter_map(|(id, find)| Some((id.as_deref()?, find)));
        match (named.next(), named.next(), self.local_target == Some(true)) {
            (None, None, true) => Ok(Target::Local),
            (Some((id, find)), None, false) => find(call, table, id),
            (None, None, false) => Err(ApiError::missing_parameter("gatewayId")),
            _ => Err(ApiError::invalid_combination("Exactly one target must be given")),
        }
    }
}

/// The target that an id is of, for a table.
type Find = fn(&Call<'_>, &RouteTable, &str) -> ApiResult<Target>;

pub fn destination(v4: Option<&str>, v6: Option<&str>) -> ApiResult<Destination> {
    match (v4, v6) {
        (Some(text), None) => Ipv4Cidr::parameter("destinationCidrBlock", text).map(Destination::V4),
        (None, Some(text)) => Ipv6Cidr::parameter("destinationIpv6CidrBlock", text).map(Destination::V6),
        (None, None) => Err(ApiError::missing_parameter("destinationCidrBlock")),
        _ => Err(ApiError::invalid_combination("Only one destination may be given")),
    }
}

fn gateway(call: &Call<'_>, table: &RouteTable, id: &str) -> ApiResult<Target> {
    // `local` is no gateway either: local routes are made with their block, and ReplaceRoute has LocalTarget.
    let gateway = call.account.internet_gateways.get(id).ok_or_else(|| {
        let known = InternetGateway::KIND.is_well_formed(id);
        if known { InternetGateway::KIND.not_found(id) } else { no_gateway(id) }
    })?;
    same_network(table, gateway.vpc_id.as_ref(), "network gateway", id)?;
    Ok(Target::InternetGateway(gateway.id.clone()))
}

/// One that was deleted is still described, and is no target any more.
fn nat_gateway(call: &Call<'_>, table: &RouteTable, id: &str) -> ApiResult<Target> {
    let gateways = &call.account.nat_gateways;
    let Some(gateway) = gateways.get(id).filter(|_| nat_gateways::is_alive(call.account, id)) else {
        // Routes have a code of their own for it.
        return Err(if NatGateway::KIND.is_well_formed(id) {
            let message = format!("The natGateway ID '{id}' does not exist");
            ApiError::client("InvalidNatGatewayID.NotFound", message)
        } else {
            NatGateway::KIND.missing(id)
        });
    };
    same_network(table, Some(&gateway.vpc_id), "nat gateway", id)?;
    Ok(Target::NatGateway(gateway.id.clone()))
}

fn egress_only(call: &Call<'_>, table: &RouteTable, id: &str) -> ApiResult<Target> {
    let gateway = call.account.egress_only_internet_gateways.find(id)?;
    same_network(table, Some(&gateway.vpc_id), "egress only internet gateway", id)?;
    Ok(Target::EgressOnlyInternetGateway(gateway.id.clone()))
}

fn interface(call: &Call<'_>, table: &RouteTable, id: &str) -> ApiResult<Target> {
    let interface = call.account.network_interfaces.find(id)?;
    same_network(table, Some(&interface.vpc_id), "interface", id)?;
    Ok(Target::NetworkInterface(interface.id.clone()))
}

fn instance(call: &Call<'_>, table: &RouteTable, id: &str) -> ApiResult<Target> {
    match call.account.instances.find(id)?.network_interfaces.as_slice() {
        [only] => interface(call, table, only),
        _ => Err(ApiError::client(
            "InvalidInstanceID",
            format!("There must be exactly one interface on instance '{id}'"),
        )),
    }
}

fn same_network(table: &RouteTable, vpc: Option<&Id<Vpc>>, what: &str, id: &str) -> ApiResult<()> {
    if vpc == Some(&table.vpc_id) {
        return Ok(());
    }
    Err(ApiError::client(
        "InvalidParameterValue",
        format!("route table {} and {what} {id} belong to different networks", table.id),
    ))
}

fn peering(call: &Call<'_>, table: &RouteTable, id: &str) -> ApiResult<Target> {
    let connection = call.account.vpc_peering_connections.find(id)?;
    let sides = [&connection.requester.vpc_id, &connection.accepter.vpc_id];
    if !sides.contains(&&table.vpc_id) {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!("route table {} is in neither VPC of {id}", table.id),
        ));
    }
    let state = connection.state_at(call.now);
    if !state.is_open() {
        return Err(ApiError::client("InvalidParameterValue", format!("{id} is {}", state.name())));
    }
    Ok(Target::VpcPeeringConnection(connection.id.clone()))
}

/// Which virtual private gateway shall add its routes to which table.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PropagationRequest {
    route_table_id: String,
    gateway_id: String,
}

/// No virtual private gateway can exist here, so none is ever found.
pub fn refuse_propagation<T>(request: &PropagationRequest, account: &Account) -> ApiResult<T> {
    account.route_tables.find(&request.route_table_id)?;
    Err(no_gateway(&request.gateway_id))
}

fn no_gateway(id: &str) -> ApiError {
    ApiError::client("InvalidGatewayID.NotFound", format!("The gateway ID '{id}' does not exist"))
}

pub fn not_found(table: &str, destination: Destination) -> ApiError {
    ApiError::client(
        "InvalidRoute.NotFound",
        format!("no route with destination-cidr-block {destination} in route table {table}"),
    )
}

/// A gateway endpoint's route in a table: it is shown there, and follows from the endpoint.
pub struct EndpointRoute<'a> {
    pub endpoint: &'a VpcEndpoint,
    pub destination: &'static PrefixList,
}

impl EndpointRoute<'_> {
    pub const ORIGIN: Origin = Origin::CreateRoute;

    pub fn state(&self) -> &'static str {
        state_name(self.endpoint.state != EndpointState::Available)
    }
}

/// Gateway endpoints are routes to a service's addresses.
pub fn endpoint_routes<'a>(
    account: &'a Account,
    table: &RouteTable,
) -> impl Iterator<Item = EndpointRoute<'a>> {
    account.vpc_endpoints.with(VpcEndpoint::BY_ROUTE_TABLE, &table.id).filter_map(|endpoint| {
        let destination = endpoint_services::prefix_list(&endpoint.service_name)?;
        Some(EndpointRoute { endpoint, destination })
    })
}

/// What is said of a route.
pub fn state(account: &Account, table: &RouteTable, route: &Route) -> &'static str {
    state_name(is_blackhole(account, table, route))
}

fn state_name(is_blackhole: bool) -> &'static str {
    if is_blackhole { "blackhole" } else { "active" }
}

/// A route whose target is gone, detached or stopped leads nowhere.
fn is_blackhole(account: &Account, table: &RouteTable, route: &Route) -> bool {
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
