//! VPC endpoints: the routes and interfaces that they consist of.

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::data::endpoint_services;
use crate::model::account::Account;
use crate::model::network_interface::NetworkInterface;
use crate::model::route_table::RouteTable;
use crate::model::security_group::SecurityGroup;
use crate::model::vpc::Vpc;
use crate::model::vpc_endpoint::{EndpointKind, EndpointState, VpcEndpoint};
use crate::node::Order;
use crate::rules::interfaces::{self, NewInterface};

/// What EC2 puts in when no policy is given.
pub const FULL_ACCESS: &str = "{\"Version\":\"2008-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\
     \"Action\":\"*\",\"Resource\":\"*\"}]}";

pub struct NewEndpoint {
    pub vpc: String,
    pub service: String,
    pub kind: EndpointKind,
    pub policy: Option<String>,
    pub private_dns: Option<bool>,
    pub parts: Parts,
}

/// What an endpoint is made of, as requests name it.
#[derive(Default)]
pub struct Parts {
    pub route_tables: Vec<String>,
    pub subnets: Vec<String>,
    pub groups: Vec<String>,
}

pub fn create(call: &mut Call<'_>, new: NewEndpoint) -> ApiResult<Id<VpcEndpoint>> {
    let vpc = call.account.vpcs.find(&new.vpc)?;
    let service = endpoint_services::find(&call.environment.region, &new.service, new.kind);
    service.ok_or_else(|| {
        ApiError::client(
            "InvalidServiceName",
            format!("The Vpc Endpoint Service '{}' does not exist as {}", new.service, new.kind.name()),
        )
    })?;
    new.policy.as_deref().map_or(Ok(()), check_policy)?;
    let private_dns = new.private_dns.unwrap_or(new.kind == EndpointKind::Interface);
    check_names(vpc, new.kind, private_dns)?;
    let endpoint = VpcEndpoint {
        id: call.new_id(),
        vpc_id: vpc.id.clone(),
        service_name: new.service,
        kind: new.kind,
        state: EndpointState::Pending,
        policy_document: new.policy.unwrap_or_else(|| FULL_ACCESS.to_owned()),
        route_table_ids: Vec::new(),
        interfaces: Vec::new(),
        groups: Vec::new(),
        private_dns_enabled: private_dns && new.kind == EndpointKind::Interface,
        created: call.now,
        tags: call.new_tags::<VpcEndpoint>(),
    };
    let id = endpoint.id.clone();
    call.account.vpc_endpoints.insert(endpoint);
    add(call, &id, &new.parts)?;
    let without_group = call.account.vpc_endpoints.find(&id)?.groups.is_empty();
    if new.kind == EndpointKind::Interface && without_group {
        let mut all = call.account.security_groups.with(SecurityGroup::BY_VPC, &new.vpc);
        let default = all.find(|group| group.name == "default").map(|group| group.id.to_string());
        drop(all);
        add(call, &id, &Parts { groups: default.into_iter().collect(), ..Parts::default() })?;
    }
    call.order(Order::CreateEndpoint(id.clone()));
    Ok(id)
}

/// Private names need the VPC's own name service.
pub fn check_names(vpc: &Vpc, kind: EndpointKind, private_dns: bool) -> ApiResult<()> {
    if kind == EndpointKind::Interface && private_dns && !(vpc.enable_dns_support && vpc.enable_dns_hostnames)
    {
        return Err(ApiError::client(
            "InvalidParameter",
            "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true",
        ));
    }
    Ok(())
}

/// Adds tables, subnets and groups; each must be of the endpoint's VPC and fit its kind.
pub fn add(call: &mut Call<'_>, id: &str, parts: &Parts) -> ApiResult<()> {
    let endpoint = call.account.vpc_endpoints.find(id)?;
    let (id, vpc, kind) = (endpoint.id.clone(), endpoint.vpc_id.clone(), endpoint.kind);
    let foreign = |what: &str| {
        ApiError::client("InvalidParameter", format!("{what} and endpoint {id} belong to different networks"))
    };
    let unfit = |what: &str| {
        ApiError::client("InvalidParameter", format!("A {} endpoint has no {what}", kind.name()))
    };
    if kind == EndpointKind::Interface && !parts.route_tables.is_empty() {
        return Err(unfit("route tables"));
    }
    if kind == EndpointKind::Gateway && !(parts.subnets.is_empty() && parts.groups.is_empty()) {
        return Err(unfit("subnets and security groups"));
    }
    for table in &parts.route_tables {
        let table = call.account.route_tables.find(table)?;
        if table.vpc_id != vpc {
            return Err(foreign(&table.id));
        }
        let table = table.id.clone();
        check_only_way(call, &id, &table)?;
        let tables = &mut call.account.vpc_endpoints.edit(&id)?.route_table_ids;
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for group in &parts.groups {
        let group = call.account.security_groups.find(group)?;
        if group.vpc_id != vpc {
            return Err(foreign(&group.id));
        }
        let group = group.id.clone();
        let groups = &mut call.account.vpc_endpoints.edit(&id)?.groups;
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for subnet in &parts.subnets {
        let subnet = call.account.subnets.find(subnet)?;
        if subnet.vpc_id != vpc {
            return Err(foreign(&subnet.id));
        }
        if call.account.vpc_endpoints.find(&id)?.interfaces.iter().any(|(known, _)| *known == subnet.id) {
            continue;
        }
        let subnet = subnet.id.clone();
        let new = NewInterface {
            description: format!("VPC Endpoint Interface {id}"),
            tags: Tags::default(),
            ..NewInterface::default()
        };
        let interface = interfaces::create(call, &subnet, new)?;
        call.account.network_interfaces.edit(&interface)?.managed_by = Some(id.to_string());
        call.account.vpc_endpoints.edit(&id)?.interfaces.push((subnet, interface));
    }
    guard(call.account, &id)
}

/// A table has one route to a service.
fn check_only_way(call: &Call<'_>, id: &str, table: &Id<RouteTable>) -> ApiResult<()> {
    let endpoints = &call.account.vpc_endpoints;
    let service = &endpoints.find(id)?.service_name;
    let same =
        |e: &VpcEndpoint| *e.id != *id && e.service_name == *service && e.state != EndpointState::Failed;
    if !endpoints.with(VpcEndpoint::BY_ROUTE_TABLE, table).any(same) {
        return Ok(());
    }
    let list = endpoint_services::find(&call.environment.region, service, EndpointKind::Gateway);
    let list = list.and_then(|service| service.prefix_list).map_or("", |list| list.id);
    Err(ApiError::client(
        "RouteAlreadyExists",
        format!("route table {table} already has a route with destination-prefix-list-id {list}"),
    ))
}

/// A policy is a JSON document with statements.
pub fn check_policy(text: &str) -> ApiResult<()> {
    let document = serde_json::from_str::<serde_json::Value>(text).ok();
    let statement = document.as_ref().and_then(|document| document.get("Statement"));
    if statement.is_some_and(|statement| statement.is_array() || statement.is_object()) {
        return Ok(());
    }
    Err(ApiError::client(
        "InvalidPolicyDocument",
        "The specified policy document is not a valid JSON policy document.",
    ))
}

pub fn remove(call: &mut Call<'_>, id: &str, parts: &Parts) -> ApiResult<()> {
    let endpoint = call.account.vpc_endpoints.edit(id)?;
    endpoint.route_table_ids.retain(|table| !parts.route_tables.iter().any(|gone| **table == **gone));
    endpoint.groups.retain(|group| !parts.groups.iter().any(|gone| **group == **gone));
    let is_gone = |subnet: &str| parts.subnets.iter().any(|gone| gone == subnet);
    let gone: Vec<Id<NetworkInterface>> =
        endpoint.interfaces.iter().filter(|(subnet, _)| is_gone(subnet)).map(|(_, id)| id.clone()).collect();
    endpoint.interfaces.retain(|(subnet, _)| !is_gone(subnet));
    for interface in gone {
        interfaces::delete(call.account, &interface)?;
    }
    guard(call.account, id)
}

/// The groups of an endpoint guard each of its interfaces.
fn guard(account: &mut Account, id: &str) -> ApiResult<()> {
    let endpoint = account.vpc_endpoints.find(id)?;
    let (groups, interfaces) = (endpoint.groups.clone(), endpoint.interfaces.clone());
    for (_, interface) in interfaces {
        account.network_interfaces.edit(&interface)?.groups.clone_from(&groups);
    }
    Ok(())
}

/// What the node's report makes of an endpoint.
pub fn created(call: &mut Call<'_>, id: &str, failed: bool) -> ApiResult<()> {
    if call.account.vpc_endpoints.get(id).is_some_and(|e| e.state == EndpointState::Pending) {
        let state = if failed { EndpointState::Failed } else { EndpointState::Available };
        call.account.vpc_endpoints.edit(id)?.state = state;
    }
    Ok(())
}

pub fn deleted(call: &mut Call<'_>, id: &str) -> ApiResult<()> {
    let Some(endpoint) = call.account.vpc_endpoints.get(id) else { return Ok(()) };
    if endpoint.state != EndpointState::Deleting {
        return Ok(());
    }
    for (_, interface) in endpoint.interfaces.clone() {
        interfaces::delete(call.account, &interface)?;
    }
    call.account.vpc_endpoints.remove(id);
    Ok(())
}

/// A table that goes away is no longer a way to any service.
pub fn forget_table(account: &mut Account, table: &Id<RouteTable>) -> ApiResult<()> {
    let using: Vec<_> =
        account.vpc_endpoints.with(VpcEndpoint::BY_ROUTE_TABLE, table).map(|e| e.id.clone()).collect();
    for id in using {
        account.vpc_endpoints.edit(&id)?.route_table_ids.retain(|known| known != table);
    }
    Ok(())
}
