//! What must go before a resource can: named in the error, so that a person can act on it.

use hive_api::{ApiError, ApiResult};

use crate::model::account::Account;
use crate::model::instance::InstanceState;
use crate::model::security_group::{Peer, SecurityGroup};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;

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
    ids.extend(account.subnets.iter().filter(|s| s.vpc_id == vpc.id).map(|s| s.id.to_string()));
    let gateways = account.internet_gateways.iter().filter(|g| g.vpc_id.as_ref() == Some(&vpc.id));
    ids.extend(gateways.map(|g| g.id.to_string()));
    let groups = account.security_groups.iter().filter(|g| g.vpc_id == vpc.id && g.name != "default");
    ids.extend(groups.map(|g| g.id.to_string()));
    let tables = account.route_tables.iter().filter(|t| t.vpc_id == vpc.id && !t.is_main());
    ids.extend(tables.map(|t| t.id.to_string()));
    let outward = account.egress_only_internet_gateways.iter().filter(|g| g.vpc_id == vpc.id);
    ids.extend(outward.map(|g| g.id.to_string()));
    ids.extend(
        account.network_acls.iter().filter(|a| a.vpc_id == vpc.id && !a.is_default).map(|a| a.id.to_string()),
    );
    ids
}

pub fn of_subnet(account: &Account, subnet: &Subnet) -> Vec<String> {
    let interfaces = account.network_interfaces.iter().filter(|i| i.subnet_id == subnet.id);
    interfaces.map(|i| i.id.to_string()).collect()
}

/// Interfaces that use the group, and rules of other groups that name it.
pub fn of_security_group(account: &Account, group: &SecurityGroup) -> Vec<String> {
    let interfaces = account.network_interfaces.iter().filter(|i| i.groups.contains(&group.id));
    let mut ids: Vec<String> = interfaces.map(|i| i.id.to_string()).collect();
    let naming = Peer::Group(group.id.clone());
    let others = account.security_groups.iter().filter(|other| other.id != group.id);
    ids.extend(
        others
            .filter(|other| other.rules.iter().any(|rule| rule.peer == naming))
            .map(|other| other.id.to_string()),
    );
    ids
}

/// Instances that are not terminated.
pub fn of_placement_group(account: &Account, name: &str) -> Vec<String> {
    account
        .instances
        .iter()
        .filter(|i| i.placement_group.as_deref() == Some(name) && i.state != InstanceState::Terminated)
        .map(|i| i.id.to_string())
        .collect()
}

/// Whether anything in the VPC has a public address: its way out cannot be taken away.
pub fn has_public_addresses(account: &Account, vpc: &str) -> bool {
    let interfaces = || account.network_interfaces.iter().filter(|i| *i.vpc_id == *vpc);
    interfaces().any(|i| i.public_ip.is_some())
        || account
            .addresses
            .iter()
            .filter_map(|a| a.association.as_ref())
            .any(|association| interfaces().any(|i| i.id == association.network_interface_id))
}
