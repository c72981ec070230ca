//! Network interfaces: an address from the subnet, groups of the same VPC, at most one instance.

use std::net::Ipv4Addr;

use hive_api::{ApiError, ApiResult};
use jiff::Timestamp;
use serde::Deserialize;

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::core::text::colon_hex;
use crate::model::account::Account;
use crate::model::address::Address;
use crate::model::instance::{Instance, InstanceState};
use crate::model::network_interface::{ATTACHMENT_KIND, InterfaceAttachment, NetworkInterface};
use crate::model::security_group::SecurityGroup;
use crate::model::subnet::Subnet;
use crate::model::volume::AttachmentState;
use crate::rules::{addresses, vpcs};

/// No type of EC2's has room for more on an interface.
pub const MOST_ADDRESSES: usize = 50;

/// One of the addresses that a request lists.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ListedAddress {
    private_ip_address: Ipv4Addr,
    #[serde(default)]
    primary: bool,
}

/// Addresses that an interface shall have; without a primary one it gets one besides.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WantedAddresses {
    pub primary: Option<Ipv4Addr>,
    pub secondary: Vec<Ipv4Addr>,
}

impl WantedAddresses {
    pub fn new(alone: Option<Ipv4Addr>, listed: &[ListedAddress]) -> ApiResult<Self> {
        let named = listed.iter().filter(|address| address.primary).map(|address| address.private_ip_address);
        let mut primary = alone.into_iter().chain(named);
        let (primary, another) = (primary.next(), primary.next());
        if another.is_some() {
            return Err(ApiError::invalid_combination("An interface has one primary private address"));
        }
        let all = listed.iter().map(|address| address.private_ip_address);
        Ok(Self { primary, secondary: all.filter(|address| Some(*address) != primary).collect() })
    }
}

#[derive(Default)]
pub struct NewInterface {
    pub description: String,
    pub private_ips: WantedAddresses,
    pub secondary_count: u32,
    pub groups: Vec<String>,
    pub tags: Tags,
}

pub fn create(call: &mut Call<'_>, subnet: &str, new: NewInterface) -> ApiResult<Id<NetworkInterface>> {
    let subnet = call.account.subnets.find(subnet)?;
    let groups = check_groups(call.account, subnet, &new.groups)?;
    let WantedAddresses { primary, secondary } = new.private_ips;
    let wanted: Vec<Ipv4Addr> = primary.into_iter().chain(secondary).collect();
    let chosen = usize::from(primary.is_none()) + new.secondary_count as usize;
    let mut private_ips = choose_addresses(call, subnet, &wanted, wanted.len() + chosen)?;
    if primary.is_none() {
        // The first that was chosen is the primary one, and goes before those that were named.
        private_ips[..=wanted.len()].rotate_right(1);
    }
    let mut mac = call.random::<6>();
    mac[0] = 0x02;
    let interface = NetworkInterface {
        id: call.new_id(),
        subnet_id: subnet.id.clone(),
        vpc_id: subnet.vpc_id.clone(),
        availability_zone: subnet.availability_zone.clone(),
        description: new.description,
        mac_address: colon_hex(&mac),
        private_ips,
        groups,
        source_dest_check: true,
        public_ip: None,
        wants_public_ip: false,
        attachment: None,
        managed_by: None,
        detached: None,
        tags: new.tags,
    };
    let id = interface.id.clone();
    call.account.network_interfaces.insert(interface);
    Ok(id)
}

/// Named groups must be of the subnet's VPC; none means the VPC's default group.
pub fn check_groups(
    account: &Account,
    subnet: &Subnet,
    groups: &[String],
) -> ApiResult<Vec<Id<SecurityGroup>>> {
    if groups.is_empty() {
        let mut all = account.security_groups.with(SecurityGroup::BY_VPC, &subnet.vpc_id);
        let default = all.find(|group| group.name == "default");
        return Ok(default.map(|group| group.id.clone()).into_iter().collect());
    }
    let mut found = Vec::new();
    for id in groups {
        let group = account.security_groups.find(id)?;
        if group.vpc_id != subnet.vpc_id {
            return Err(ApiError::client(
                "InvalidParameter",
                format!("Security group {id} and subnet {} belong to different networks.", subnet.id),
            ));
        }
        if !found.contains(&group.id) {
            found.push(group.id.clone());
        }
    }
    Ok(found)
}

pub fn check_count(call: &Call<'_>, addresses: usize, most: usize, of: &str) -> ApiResult<()> {
    if addresses <= most {
        return Ok(());
    }
    let launch = call.action == "RunInstances";
    Err(ApiError::client(
        if launch { "InvalidInterface.IpAddressLimitExceeded" } else { "PrivateIpAddressLimitExceeded" },
        format!("Number of private addresses will exceed limit: {of} has {most} at most"),
    ))
}

/// The wanted addresses, then free ones until there are `count`. The search begins anywhere in the subnet: it
/// finds a free one at once however many are in use, and a released one does not come back at once.
pub fn choose_addresses(
    call: &Call<'_>,
    subnet: &Subnet,
    wanted: &[Ipv4Addr],
    count: usize,
) -> ApiResult<Vec<Ipv4Addr>> {
    // A request names the count: nothing is reserved for more than can be.
    check_count(call, count, MOST_ADDRESSES, "an interface")?;
    let insufficient = || {
        ApiError::client(
            "InsufficientFreeAddressesInSubnet",
            format!("There are not enough free addresses in subnet '{}'.", subnet.id),
        )
    };
    if count as u64 > vpcs::available_addresses(call.account, subnet) {
        return Err(insufficient());
    }
    let interfaces = &call.account.network_interfaces;
    let is_used = |address: Ipv4Addr| {
        let place = NetworkInterface::address_in(&subnet.id, address);
        interfaces.with(NetworkInterface::BY_ADDRESS, &place).next().is_some()
    };
    let mut chosen = Vec::with_capacity(count);
    for address in wanted {
        if !subnet.cidr_block.contains(*address) || subnet.cidr_block.is_reserved(*address) {
            let text = address.to_string();
            return Err(ApiError::invalid_value(
                "PrivateIpAddress",
                &text,
                "Address is not in the subnet's range.",
            ));
        }
        if chosen.contains(address) || is_used(*address) {
            return Err(ApiError::client("InvalidIPAddress.InUse", format!("Address {address} is in use.")));
        }
        chosen.push(*address);
    }
    let usable = subnet.cidr_block.usable();
    let start = u64::from(u32::from_be_bytes(call.random::<4>())) % usable.max(1);
    let mut free = (0..usable)
        .map(|step| subnet.cidr_block.address(4 + (start + step) % usable))
        .filter(|address| !wanted.contains(address) && !is_used(*address));
    while chosen.len() < count {
        chosen.push(free.next().ok_or_else(insufficient)?);
    }
    Ok(chosen)
}

/// Takes addresses from the interfaces of the same subnet that have them as secondary ones; gives the elastic addresses that
/// are tied to them.
pub fn release(call: &mut Call<'_>, to: &str, wanted: &[Ipv4Addr]) -> ApiResult<Vec<Id<Address>>> {
    let subnet = call.account.network_interfaces.find(to)?.subnet_id.clone();
    let mut elastic = Vec::new();
    for address in wanted {
        let place = NetworkInterface::address_in(&subnet, *address);
        let is_secondary =
            |found: &&NetworkInterface| *found.id != *to && found.primary_ip() != Some(*address);
        let mut holders = call.account.network_interfaces.with(NetworkInterface::BY_ADDRESS, &place);
        let holder = holders.find(is_secondary).map(|found| found.id.clone());
        drop(holders);
        let Some(holder) = holder else { continue };
        addresses::refuse_managed(call.account, &holder)?;
        elastic
            .extend(addresses::of_interface(call.account, &holder, *address).map(|found| found.id.clone()));
        call.account.network_interfaces.edit(&holder)?.private_ips.retain(|held| held != address);
    }
    Ok(elastic)
}

pub fn attach(
    call: &mut Call<'_>,
    interface: &str,
    instance: &str,
    device_index: u32,
    delete_on_termination: bool,
) -> ApiResult<String> {
    let found = call.account.network_interfaces.find(interface)?;
    if found.attachment.is_some() || found.managed_by.is_some() {
        return Err(ApiError::client(
            "InvalidNetworkInterface.InUse",
            format!("Interface: [{interface}] in use."),
        ));
    }
    let (zone, interface) = (found.availability_zone.clone(), found.id.clone());
    let target = call.account.instances.find(instance)?;
    if matches!(target.state, InstanceState::ShuttingDown | InstanceState::Terminated) {
        return Err(incorrect_state(target, "given a network interface"));
    }
    if target.availability_zone != zone {
        return Err(ApiError::client(
            "InvalidParameterCombination",
            "You may not attach a network interface to an instance if they are not in the same availability zone",
        ));
    }
    if device_index_in_use(call.account, target, device_index) {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!(
                "Instance '{instance}' already has an interface attached at device index '{device_index}'."
            ),
        ));
    }
    let instance = target.id.clone();
    let id = call.random_id("eni-attach");
    let edited = call.account.network_interfaces.edit(&interface)?;
    edited.detached = None;
    edited.attachment = Some(InterfaceAttachment {
        id: id.clone(),
        state: AttachmentState::Attached,
        instance_id: instance.clone(),
        device_index,
        attached: call.now,
        delete_on_termination,
    });
    let mut list = call.account.instances.find(&instance)?.network_interfaces.clone();
    list.push(interface);
    list.sort_by_key(|id| {
        let interface = call.account.network_interfaces.get(id);
        interface.and_then(|i| i.attachment.as_ref()).map_or(u32::MAX, |attachment| attachment.device_index)
    });
    call.account.instances.edit(&instance)?.network_interfaces = list;
    Ok(id)
}

fn device_index_in_use(account: &Account, instance: &Instance, index: u32) -> bool {
    instance.network_interfaces.iter().any(|id| {
        let interface = account.network_interfaces.get(id);
        interface
            .and_then(|i| i.attachment.as_ref())
            .is_some_and(|attachment| attachment.device_index == index)
    })
}

pub fn find_attachment<'a>(account: &'a Account, id: &'a str) -> ApiResult<&'a NetworkInterface> {
    let mut all = account.network_interfaces.with(NetworkInterface::BY_ATTACHMENT, id);
    all.find(|interface| interface.attachment.as_ref().is_some_and(|attachment| attachment.id == id))
        .ok_or_else(|| ATTACHMENT_KIND.missing(id))
}

/// What the node's report of an interface that was plugged in or out means.
pub fn reported(
    call: &mut Call<'_>,
    interface: &str,
    instance: &str,
    waiting: AttachmentState,
    failed: bool,
) -> ApiResult<()> {
    let found = call.account.network_interfaces.get(interface).and_then(|found| found.attachment.as_ref());
    if !found.is_some_and(|found| found.state == waiting && *found.instance_id == *instance) {
        return Ok(());
    }
    match (waiting, failed) {
        (AttachmentState::Attaching, false) => set_state(call, interface, AttachmentState::Attached),
        (AttachmentState::Detaching, true) | (AttachmentState::Attached, _) => Ok(()),
        (AttachmentState::Attaching, true) | (AttachmentState::Detaching, false) => {
            detach(call.account, interface, call.now)
        }
    }
}

pub fn set_state(call: &mut Call<'_>, interface: &str, state: AttachmentState) -> ApiResult<()> {
    if let Some(attachment) = &mut call.account.network_interfaces.edit(interface)?.attachment {
        attachment.state = state;
    }
    Ok(())
}

/// Unplugs an interface; its primary one an instance keeps as long as it lives. A public address that came with the instance
/// is given back.
pub fn detach(account: &mut Account, interface: &str, now: Timestamp) -> ApiResult<()> {
    let Some(attachment) = account.network_interfaces.find(interface)?.attachment.clone() else {
        return Ok(());
    };
    let edited = account.network_interfaces.edit(interface)?;
    edited.attachment = None;
    (edited.public_ip, edited.wants_public_ip) = (None, false);
    edited.detached = Some((attachment.clone(), now));
    if account.instances.get(&attachment.instance_id).is_some() {
        account.instances.edit(&attachment.instance_id)?.network_interfaces.retain(|id| **id != *interface);
    }
    Ok(())
}

/// Removes an interface that nothing is plugged into; elastic addresses on it become free.
pub fn delete(account: &mut Account, id: &str) -> ApiResult<()> {
    let interface = account.network_interfaces.find(id)?;
    if interface.attachment.is_some() {
        return Err(ApiError::client(
            "InvalidParameterValue",
            format!("Network interface '{id}' is currently in use."),
        ));
    }
    addresses::release_from(account, id)?;
    account.network_interfaces.remove(id);
    Ok(())
}

/// The refusal of what an instance cannot have done to it as it is: `stopped`, say.
pub fn incorrect_state(instance: &Instance, what: &str) -> ApiError {
    ApiError::client(
        "IncorrectInstanceState",
        format!(
            "The instance '{}' is not in a state from which it can be {what}: it is {}.",
            instance.id,
            instance.state.name()
        ),
    )
}
