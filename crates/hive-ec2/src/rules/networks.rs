//! Which VPCs a change is to be seen in by packets: derived from what it touched, so that no action can forget it.

use std::collections::BTreeSet;

use crate::core::id::Id;
use crate::core::table::{Resource, Table};
use crate::model::account::Account;
use crate::model::vpc::Vpc;

/// The VPCs whose network differs from what it was before this copy of the account was changed.
pub fn changed(account: &Account) -> BTreeSet<Id<Vpc>> {
    let mut touched = Touched(BTreeSet::new());
    look_at_all(account, &mut touched);
    touched.0
}

/// The VPCs that one record is part of the network of, as it is now.
pub fn of(account: &Account, kind: &str, id: &str) -> BTreeSet<Id<Vpc>> {
    let mut one = One { kind, id, found: BTreeSet::new() };
    look_at_all(account, &mut one);
    one.found
}

/// What to look at in a table of which each resource is part of the networks of some VPCs.
trait Look {
    fn at<T: Resource>(&mut self, table: &Table<T>, networks: impl Fn(&T) -> Vec<Id<Vpc>>);
}

fn look_at_all(account: &Account, look: &mut impl Look) {
    look.at(&account.vpcs, |vpc| vec![vpc.id.clone()]);
    look.at(&account.subnets, |subnet| vec![subnet.vpc_id.clone()]);
    look.at(&account.route_tables, |table| vec![table.vpc_id.clone()]);
    look.at(&account.network_acls, |acl| vec![acl.vpc_id.clone()]);
    look.at(&account.security_groups, |group| vec![group.vpc_id.clone()]);
    look.at(&account.network_interfaces, |interface| vec![interface.vpc_id.clone()]);
    look.at(&account.nat_gateways, |gateway| vec![gateway.vpc_id.clone()]);
    look.at(&account.vpc_endpoints, |endpoint| vec![endpoint.vpc_id.clone()]);
    look.at(&account.internet_gateways, |gateway| gateway.vpc_id.clone().into_iter().collect());
    look.at(&account.egress_only_internet_gateways, |gateway| vec![gateway.vpc_id.clone()]);
    look.at(&account.vpc_peering_connections, |connection| {
        vec![connection.requester.vpc_id.clone(), connection.accepter.vpc_id.clone()]
    });
    look.at(&account.addresses, |address| {
        let interface = address.association.as_ref().map(|association| &association.network_interface_id);
        let interface = interface.and_then(|id| account.network_interfaces.get(id));
        interface.map(|interface| interface.vpc_id.clone()).into_iter().collect()
    });
}

/// Each resource that was touched, as it was and as it is.
struct Touched(BTreeSet<Id<Vpc>>);

impl Look for Touched {
    fn at<T: Resource>(&mut self, table: &Table<T>, networks: impl Fn(&T) -> Vec<Id<Vpc>>) {
        for (before, now) in table.touched() {
            self.0.extend(before.into_iter().chain(now).flat_map(&networks));
        }
    }
}

struct One<'a> {
    kind: &'a str,
    id: &'a str,
    found: BTreeSet<Id<Vpc>>,
}

impl Look for One<'_> {
    fn at<T: Resource>(&mut self, table: &Table<T>, networks: impl Fn(&T) -> Vec<Id<Vpc>>) {
        if T::KIND.name == self.kind {
            self.found.extend(table.get(self.id).into_iter().flat_map(networks));
        }
    }
}
