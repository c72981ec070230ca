//! What must go before a resource can: named in the error, so that a person can act on it.

use hive_api::{ApiError, ApiResult};

use crate::model::account::Account;
use crate::model::address::Address;
use crate::model::egress_only_internet_gateway::EgressOnlyInternetGateway;
use crate::model::instance::{Instance, InstanceState};
use crate::model::internet_gateway::InternetGateway;
use crate::model::network_acl::NetworkAcl;
use crate::model::network_interface::NetworkInterface;
use crate::model::route_table::RouteTable;
use crate::model::security_group::SecurityGroup;
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::model::vpc_endpoint::VpcEndpoint;

/// `DependencyViolation` if anything is left; the first few are named.
pub fn refuse(noun: &str, id: &str, dependents: Vec<String>) -> ApiResult<()> {
    if dependents.is_empty() {
        return Ok(());
    }
    let named: Vec<&str> = dependents.iter().take(5).map(String::as_str).collect();
    let more = if dependents.len() > 5 { ", ..." } else { "" };
    Err(ApiError::client(
        "DependencyViolation",
        format!("The {noun} '{id}' has dependencies and cannot be deleted: {}{more}", named.join(", ")),
    ))
}

pub fn of_vpc(account: &Account, vpc: &Vpc) -> Vec<String> {
    let mut ids = Vec::new();
    let id = &vpc.id;
    ids.extend(account.subnets.with(Subnet::BY_VPC, id).map(|s| s.id.to_string()));
    ids.extend(account.internet_gateways.with(InternetGateway::BY_VPC, id).map(|g| g.id.to_string()));
    let groups = account.security_groups.with(SecurityGroup::BY_VPC, id).filter(|g| g.name != "default");
    ids.extend(groups.map(|g| g.id.to_string()));
    let tables = account.route_tables.with(RouteTable::BY_VPC, id).filter(|t| !t.is_main());
    ids.extend(tables.map(|t| t.id.to_string()));
    let outward = account.egress_only_internet_gateways.with(EgressOnlyInternetGateway::BY_VPC, id);
    ids.extend(outward.map(|g| g.id.to_string()));
    ids.extend(account.vpc_endpoints.with(VpcEndpoint::BY_VPC, id).map(|e| e.id.to_string()));
    let acls = account.network_acls.with(NetworkAcl::BY_VPC, id).filter(|a| !a.is_default);
    ids.extend(acls.map(|a| a.id.to_string()));
    ids
}

pub fn of_subnet(account: &Account, subnet: &Subnet) -> Vec<String> {
    let interfaces = account.network_interfaces.with(NetworkInterface::BY_SUBNET, &subnet.id);
    interfaces.map(|i| i.id.to_string()).collect()
}

/// Interfaces that use the group, and rules of other groups that name it.
pub fn of_security_group(account: &Account, group: &SecurityGroup) -> Vec<String> {
    let interfaces = account.network_interfaces.with(NetworkInterface::BY_GROUP, &group.id);
    let mut ids: Vec<String> = interfaces.map(|i| i.id.to_string()).collect();
    ids.extend(account.vpc_endpoints.with(VpcEndpoint::BY_GROUP, &group.id).map(|e| e.id.to_string()));
    let naming = account.security_groups.with(SecurityGroup::BY_PEER, &group.id);
    ids.extend(naming.filter(|other| other.id != group.id).map(|other| other.id.to_string()));
    ids
}

/// Instances that are not terminated.
pub fn of_placement_group(account: &Account, name: &str) -> Vec<String> {
    let members = account.instances.with(Instance::BY_PLACEMENT_GROUP, name);
    members.filter(|i| i.state != InstanceState::Terminated).map(|i| i.id.to_string()).collect()
}

/// Whether anything in the VPC has a public address: its way out cannot be taken away.
pub fn has_public_addresses(account: &Account, vpc: &str) -> bool {
    account.network_interfaces.with(NetworkInterface::BY_VPC, vpc).any(|interface| {
        interface.public_ip.is_some()
            || account.addresses.with(Address::BY_INTERFACE, &interface.id).next().is_some()
    })
}
