//! References between resources: each must lead to something that is there, in the same network. There are two
//! exceptions, as in EC2: a route whose target is gone is a blackhole, and a rule that names a group of a peered network
//! which is gone is stale. And a table has one route to a destination.

use crate::model::account::Account;
use crate::model::instance::InstanceState;
use crate::model::route_table::AssociationTarget;
use crate::rules::images::find_snapshot;

/// Every reference that leads nowhere, and every destination that a table has two routes to, in words; empty in a healthy
/// account.
pub fn dangling(account: &Account) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |from: &str, to: &str, there: bool| {
        if !there {
            found.push(format!("{from} names {to}, which is not there"));
        }
    };
    for subnet in account.subnets.iter() {
        check(&subnet.id, &subnet.vpc_id, account.vpcs.get(&subnet.vpc_id).is_some());
    }
    for group in account.security_groups.iter() {
        check(&group.id, &group.vpc_id, account.vpcs.get(&group.vpc_id).is_some());
    }
    for gateway in account.internet_gateways.iter() {
        if let Some(vpc) = &gateway.vpc_id {
            check(&gateway.id, vpc, account.vpcs.get(vpc).is_some());
        }
    }
    for table in account.route_tables.iter() {
        check(&table.id, &table.vpc_id, account.vpcs.get(&table.vpc_id).is_some());
        for association in &table.associations {
            match &association.target {
                AssociationTarget::Main => {}
                AssociationTarget::Subnet(id) => {
                    let subnet = account.subnets.get(id);
                    check(&association.id, id, subnet.is_some_and(|subnet| subnet.vpc_id == table.vpc_id));
                }
                AssociationTarget::InternetGateway(id) => {
                    let gateway = account.internet_gateways.get(id);
                    check(
                        &association.id,
                        id,
                        gateway.is_some_and(|gateway| gateway.vpc_id.as_ref() == Some(&table.vpc_id)),
                    );
                }
            }
        }
    }
    for acl in account.network_acls.iter() {
        check(&acl.id, &acl.vpc_id, account.vpcs.get(&acl.vpc_id).is_some());
        for association in &acl.associations {
            let subnet = &association.subnet_id;
            check(&association.id, subnet, account.subnets.get(subnet).is_some());
        }
    }
    for interface in account.network_interfaces.iter() {
        check(&interface.id, &interface.subnet_id, account.subnets.get(&interface.subnet_id).is_some());
        for group in &interface.groups {
            check(&interface.id, group, account.security_groups.get(group).is_some());
        }
        if let Some(attachment) = &interface.attachment {
            let instance = account.instances.get(&attachment.instance_id);
            let mutual = instance.is_some_and(|i| i.network_interfaces.contains(&interface.id));
            check(&interface.id, &attachment.instance_id, mutual);
        }
    }
    for address in account.addresses.iter() {
        if let Some(association) = &address.association {
            let interface = account.network_interfaces.get(&association.network_interface_id);
            let there = interface.is_some_and(|i| i.private_ips.contains(&association.private_ip));
            check(&address.id, &association.network_interface_id, there);
        }
    }
    for gateway in account.egress_only_internet_gateways.iter() {
        check(&gateway.id, &gateway.vpc_id, account.vpcs.get(&gateway.vpc_id).is_some());
    }
    for gateway in account.nat_gateways.iter().filter(|gateway| gateway.deleted.is_none()) {
        let interface = &gateway.network_interface_id;
        check(&gateway.id, interface, account.network_interfaces.get(interface).is_some());
        if let Some(allocation) = &gateway.allocation_id {
            let tied = account.addresses.get(allocation).and_then(|address| address.association.as_ref());
            check(&gateway.id, allocation, tied.is_some_and(|tied| tied.network_interface_id == *interface));
        }
    }
    for vpc in account.vpcs.iter() {
        if let Some(options) = &vpc.dhcp_options_id {
            check(&vpc.id, options, account.dhcp_options.get(options).is_some());
        }
    }
    for endpoint in account.vpc_endpoints.iter() {
        check(&endpoint.id, &endpoint.vpc_id, account.vpcs.get(&endpoint.vpc_id).is_some());
        for table in &endpoint.route_table_ids {
            check(&endpoint.id, table, account.route_tables.get(table).is_some());
        }
        for (subnet, interface) in &endpoint.interfaces {
            check(&endpoint.id, subnet, account.subnets.get(subnet).is_some());
            check(&endpoint.id, interface, account.network_interfaces.get(interface).is_some());
        }
        for group in &endpoint.groups {
            check(&endpoint.id, group, account.security_groups.get(group).is_some());
        }
    }
    for connection in account.vpc_peering_connections.iter().filter(|p| p.ended.is_none()) {
        for side in [&connection.requester, &connection.accepter] {
            check(&connection.id, &side.vpc_id, account.vpcs.get(&side.vpc_id).is_some());
        }
    }
    for image in account.images.iter() {
        let volumes = image.devices.iter().filter_map(|device| device.volume.as_ref());
        for snapshot in volumes.filter_map(|volume| volume.snapshot_id.as_ref()) {
            check(&image.id, snapshot, find_snapshot(account, snapshot).is_ok());
        }
    }
    for volume in account.volumes.iter() {
        for attachment in &volume.attachments {
            let instance = account.instances.get(&attachment.instance_id);
            let mutual = instance.is_some_and(|i| i.block_devices.iter().any(|(_, id)| *id == volume.id));
            check(&volume.id, &attachment.instance_id, mutual);
        }
    }
    for instance in account.instances.iter() {
        for interface in &instance.network_interfaces {
            check(&instance.id, interface, account.network_interfaces.get(interface).is_some());
        }
        for (_, volume) in &instance.block_devices {
            check(&instance.id, volume, account.volumes.get(volume).is_some());
        }
        if instance.state != InstanceState::Terminated {
            check(&instance.id, &instance.subnet_id, account.subnets.get(&instance.subnet_id).is_some());
        }
    }
    for table in account.route_tables.iter() {
        for (index, route) in table.routes.iter().enumerate() {
            if table.routes[..index].iter().any(|other| other.destination == route.destination) {
                found.push(format!("{} has two routes to {}", table.id, route.destination));
            }
        }
    }
    found
}
