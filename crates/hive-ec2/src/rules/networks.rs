//! Which VPCs a change is to be seen in by packets: derived from what it touched, so that no action can forget it.

use std::collections::BTreeSet;

use crate::core::id::Id;
use crate::core::table::{Resource, Table};
use crate::model::account::Account;
use crate::model::vpc::Vpc;

/// The VPCs whose network differs from what it was before this copy of the account was changed.
pub fn changed(account: &Account) -> BTreeSet<Id<Vpc>> {
    let mut found = BTreeSet::new();
    each(&account.vpcs, |vpc| _ = found.insert(vpc.id.clone()));
    each(&account.subnets, |subnet| _ = found.insert(subnet.vpc_id.clone()));
    each(&account.route_tables, |table| _ = found.insert(table.vpc_id.clone()));
    each(&account.network_acls, |acl| _ = found.insert(acl.vpc_id.clone()));
    each(&account.security_groups, |group| _ = found.insert(group.vpc_id.clone()));
    each(&account.network_interfaces, |interface| _ = found.insert(interface.vpc_id.clone()));
    each(&account.nat_gateways, |gateway| _ = found.insert(gateway.vpc_id.clone()));
    each(&account.vpc_endpoints, |endpoint| _ = found.insert(endpoint.vpc_id.clone()));
    each(&account.internet_gateways, |gateway| found.extend(gateway.vpc_id.clone()));
    each(&account.egress_only_internet_gateways, |gateway| _ = found.insert(gateway.vpc_id.clone()));
    each(&account.vpc_peering_connections, |connection| {
        found.extend([connection.requester.vpc_id.clone(), connection.accepter.vpc_id.clone()]);
    });
    each(&account.addresses, |address| {
        let interface = address.association.as_ref().map(|association| &association.network_interface_id);
        let interface = interface.and_then(|id| account.network_interfaces.get(id));
        found.extend(interface.map(|interface| interface.vpc_id.clone()));
    });
    found
}

/// Each resource that was touched, as it was and as it is.
fn each<T: Resource>(table: &Table<T>, mut see: impl FnMut(&T)) {
    for (before, now) in table.touched() {
        before.into_iter().chain(now).for_each(&mut see);
    }
}
