//! `<networkInterface>`, and the names that addresses have in DNS.

use std::net::Ipv4Addr;

use serde::Serialize;

use super::{TagView, tags};
use crate::core::call::Call;
use crate::core::environment::Environment;
use crate::core::environment::zone_id;
use crate::core::text::moment;
use crate::model::account::Account;
use crate::model::network_interface::{InterfaceAttachment, NetworkInterface};
use crate::rules::addresses;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkInterfaceView {
    network_interface_id: String,
    subnet_id: String,
    vpc_id: String,
    availability_zone: Option<String>,
    availability_zone_id: Option<String>,
    description: String,
    owner_id: String,
    requester_managed: Option<bool>,
    status: &'static str,
    mac_address: String,
    private_ip_address: Option<String>,
    private_dns_name: Option<String>,
    source_dest_check: bool,
    interface_type: &'static str,
    group_set: Vec<GroupIdentifier>,
    attachment: Option<AttachmentView>,
    association: Option<AssociationView>,
    private_ip_addresses_set: Vec<PrivateAddressView>,
    ipv6_addresses_set: Vec<String>,
    tag_set: Option<Vec<TagView>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupIdentifier {
    pub group_id: String,
    pub group_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentView {
    attachment_id: String,
    instance_id: Option<String>,
    instance_owner_id: Option<String>,
    device_index: u32,
    network_card_index: u32,
    status: &'static str,
    attach_time: String,
    delete_on_termination: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AssociationView {
    pub public_ip: String,
    pub public_dns_name: String,
    ip_owner_id: String,
    allocation_id: Option<String>,
    association_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrivateAddressView {
    private_ip_address: String,
    private_dns_name: String,
    primary: bool,
    association: Option<AssociationView>,
}

/// `ip-10-0-0-4.ec2.internal`
pub fn private_name(address: Ipv4Addr, environment: &Environment) -> String {
    internal(&format!("ip-{}", address.to_string().replace('.', "-")), environment)
}

/// `i-0123456789abcdef0.ec2.internal`
pub fn resource_name(instance: &str, environment: &Environment) -> String {
    internal(instance, environment)
}

fn internal(host: &str, environment: &Environment) -> String {
    match environment.region.as_str() {
        "us-east-1" => format!("{host}.ec2.internal"),
        region => format!("{host}.{region}.compute.internal"),
    }
}

pub fn public_name(address: Ipv4Addr, environment: &Environment) -> String {
    let dashed = address.to_string().replace('.', "-");
    match environment.region.as_str() {
        "us-east-1" => format!("ec2-{dashed}.compute-1.amazonaws.com"),
        region => format!("ec2-{dashed}.{region}.compute.amazonaws.com"),
    }
}

pub fn groups(interface: &NetworkInterface, account: &Account) -> Vec<GroupIdentifier> {
    let groups = interface.groups.iter().filter_map(|id| account.security_groups.get(id));
    groups
        .map(|group| GroupIdentifier { group_id: group.id.to_string(), group_name: group.name.clone() })
        .collect()
}

/// The public address of a private one: elastic, or the one that came with the instance.
pub fn association(
    interface: &NetworkInterface,
    private_ip: Ipv4Addr,
    call: &Call<'_>,
) -> Option<AssociationView> {
    let account = &call.account;
    let has_names = account.vpcs.get(&interface.vpc_id).is_some_and(|vpc| vpc.enable_dns_hostnames);
    let name = |address| if has_names { public_name(address, call.environment) } else { String::new() };
    if let Some(address) = addresses::of_interface(account, &interface.id, private_ip) {
        return Some(AssociationView {
            public_ip: address.public_ip.to_string(),
            public_dns_name: name(address.public_ip),
            ip_owner_id: account.id.to_string(),
            allocation_id: Some(address.id.to_string()),
            association_id: address.association.as_ref().map(|association| association.id.clone()),
        });
    }
    let public = interface.public_ip.filter(|_| interface.primary_ip() == Some(private_ip))?;
    Some(AssociationView {
        public_ip: public.to_string(),
        public_dns_name: name(public),
        ip_owner_id: "amazon".to_owned(),
        allocation_id: None,
        association_id: None,
    })
}

pub fn attachment(
    attachment: &InterfaceAttachment,
    status: &'static str,
    account: &Account,
) -> AttachmentView {
    AttachmentView {
        attachment_id: attachment.id.clone(),
        instance_id: Some(attachment.instance_id.to_string()),
        instance_owner_id: Some(account.id.to_string()),
        device_index: attachment.device_index,
        network_card_index: 0,
        status,
        attach_time: moment(attachment.attached),
        delete_on_termination: attachment.delete_on_termination,
    }
}

pub fn network_interface(interface: &NetworkInterface, call: &Call<'_>) -> NetworkInterfaceView {
    let account = &*call.account;
    let primary = interface.primary_ip();
    let addresses = interface.private_ips.iter().map(|address| PrivateAddressView {
        private_ip_address: address.to_string(),
        private_dns_name: private_name(*address, call.environment),
        primary: Some(*address) == primary,
        association: association(interface, *address, call),
    });
    NetworkInterfaceView {
        network_interface_id: interface.id.to_string(),
        subnet_id: interface.subnet_id.to_string(),
        vpc_id: interface.vpc_id.to_string(),
        availability_zone: Some(interface.availability_zone.clone()),
        availability_zone_id: Some(zone_id(&interface.availability_zone)),
        description: interface.description.clone(),
        owner_id: account.id.to_string(),
        requester_managed: Some(interface.managed_by.is_some()),
        status: if interface.attachment.is_some() || interface.managed_by.is_some() {
            "in-use"
        } else {
            "available"
        },
        mac_address: interface.mac_address.clone(),
        private_ip_address: primary.map(|address| address.to_string()),
        private_dns_name: primary.map(|address| private_name(address, call.environment)),
        source_dest_check: interface.source_dest_check,
        interface_type: interface.kind(),
        group_set: groups(interface, account),
        attachment: interface.last_attachment().map(|(a, status)| attachment(a, status, account)),
        association: primary.and_then(|address| association(interface, address, call)),
        private_ip_addresses_set: addresses.collect(),
        ipv6_addresses_set: Vec::new(),
        tag_set: Some(tags(&interface.tags)),
    }
}

/// The same inside `<instance>`, where EC2 leaves out what the instance says itself.
pub fn of_instance(interface: &NetworkInterface, call: &Call<'_>) -> NetworkInterfaceView {
    let mut view = NetworkInterfaceView {
        availability_zone: None,
        availability_zone_id: None,
        requester_managed: None,
        tag_set: None,
        ..network_interface(interface, call)
    };
    if let Some(attachment) = &mut view.attachment {
        (attachment.instance_id, attachment.instance_owner_id) = (None, None);
    }
    let addresses =
        view.private_ip_addresses_set.iter_mut().filter_map(|address| address.association.as_mut());
    for association in view.association.iter_mut().chain(addresses) {
        (association.allocation_id, association.association_id) = (None, None);
    }
    view
}
