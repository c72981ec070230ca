//! Public addresses: each is given out once, and belongs to one private address at most.

use std::net::Ipv4Addr;

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::model::account::Account;
use crate::model::address::{Address, AddressAssociation};
use crate::model::instance::InstanceState;
use crate::model::internet_gateway::InternetGateway;
use crate::model::network_interface::NetworkInterface;

/// A free public address, chosen at random so that a released one does not come back at once.
pub fn free_public_address(call: &Call<'_>) -> ApiResult<Ipv4Addr> {
    let has = |account: &Account, address: &str| {
        account.addresses.with(Address::BY_PUBLIC_ADDRESS, address).next().is_some()
            || account.network_interfaces.with(NetworkInterface::BY_PUBLIC_ADDRESS, address).next().is_some()
    };
    let is_used = |address: &Ipv4Addr| {
        let address = address.to_string();
        has(call.account, &address) || call.world.accounts.values().any(|account| has(account, &address))
    };
    let pool = call.environment.public_addresses;
    let start = u64::from(u32::from_be_bytes(call.random::<4>())) % pool.usable();
    (0..pool.usable())
        .map(|step| pool.address(4 + (start + step) % pool.usable()))
        .find(|address| !is_used(address))
        .ok_or_else(|| {
            ApiError::client("InsufficientAddressCapacity", "There are no free public addresses in the pool")
        })
}

/// Whether this copy of an account has a public address that it had not before.
pub fn takes_public_address(account: &Account) -> bool {
    let elastic = account.addresses.touched().any(|(before, now)| before.is_none() && now.is_some());
    let public = |interface: Option<&NetworkInterface>| interface.and_then(|interface| interface.public_ip);
    elastic
        || account
            .network_interfaces
            .touched()
            .any(|(before, now)| public(now).is_some() && public(now) != public(before))
}

/// Ties an address to a private one. With `reassociate` it is taken from where it was.
pub fn associate(
    call: &mut Call<'_>,
    allocation: &str,
    interface: &str,
    private_ip: Option<Ipv4Addr>,
    reassociate: bool,
) -> ApiResult<String> {
    let target = call.account.network_interfaces.find(interface)?;
    let private_ip = match private_ip {
        Some(address) if target.private_ips.contains(&address) => address,
        Some(address) => {
            return Err(ApiError::invalid_value(
                "PrivateIpAddress",
                &address.to_string(),
                "It is not an address of the network interface.",
            ));
        }
        None => target.primary_ip().ok_or_else(|| {
            ApiError::client("InvalidParameterValue", "The interface has no private address")
        })?,
    };
    let (interface, vpc) = (target.id.clone(), target.vpc_id.clone());
    let address = call.account.addresses.find(allocation)?;
    require_way_out(call.account, &vpc)?;
    if let Some(association) = &address.association {
        if association.network_interface_id == interface && association.private_ip == private_ip {
            return Ok(association.id.clone());
        }
        if !reassociate {
            return Err(ApiError::client(
                "Resource.AlreadyAssociated",
                format!("resource {allocation} is already associated with associate-id {}", association.id),
            ));
        }
        refuse_managed(call.account, &association.network_interface_id)?;
    }
    let elsewhere = call.account.addresses.with(Address::BY_INTERFACE, &interface).find(|other| {
        *other.id != *allocation && other.association.as_ref().is_some_and(|a| a.private_ip == private_ip)
    });
    if let Some(other) = elsewhere {
        if !reassociate {
            return Err(ApiError::client(
                "Resource.AlreadyAssociated",
                format!("resource {interface} is already associated with {}", other.id),
            ));
        }
        let other = other.id.clone();
        call.account.addresses.edit(&other)?.association = None;
    }
    let id = call.random_id("eipassoc");
    let address = call.account.addresses.edit(allocation)?;
    let before = address.association.replace(AddressAssociation {
        id: id.clone(),
        network_interface_id: interface.clone(),
        private_ip,
    });
    settle(call, &interface)?;
    before.map_or(Ok(()), |before| settle(call, &before.network_interface_id))?;
    Ok(id)
}

/// Unties an address from whatever it is tied to.
pub fn disassociate(call: &mut Call<'_>, allocation: &str) -> ApiResult<()> {
    match call.account.addresses.edit(allocation)?.association.take() {
        Some(association) => settle(call, &association.network_interface_id),
        None => Ok(()),
    }
}

/// Where the private address that it is tied to moved, an elastic address goes along.
pub fn follow(call: &mut Call<'_>, allocation: &str, interface: &str) -> ApiResult<()> {
    let interface = call.account.network_interfaces.find(interface)?.id.clone();
    if let Some(association) = &mut call.account.addresses.edit(allocation)?.association {
        association.network_interface_id = interface;
    }
    Ok(())
}

/// A public address that is not elastic, for an interface of an instance that is launched with one.
pub fn give(call: &mut Call<'_>, interface: &str) -> ApiResult<()> {
    let address = free_public_address(call)?;
    let interface = call.account.network_interfaces.edit(interface)?;
    (interface.public_ip, interface.wants_public_ip) = (Some(address), true);
    Ok(())
}

/// What was given with the launch goes when the instance stops, and when an elastic address takes its place. Another comes
/// once the instance runs without one: if it has no other interface by then, and nothing elastic on this one.
pub fn settle(call: &mut Call<'_>, interface: &str) -> ApiResult<()> {
    let account = &*call.account;
    let found = account.network_interfaces.find(interface)?;
    // Earlier versions kept the wish only while there was no address.
    let plugged = found.attachment.as_ref().filter(|_| found.wants_public_ip || found.public_ip.is_some());
    let Some(instance) = plugged.and_then(|plugged| account.instances.get(&plugged.instance_id)) else {
        return Ok(());
    };
    let is_elastic = |ip: &Ipv4Addr| of_interface(account, &found.id, *ip).is_some();
    let public_ip = match found.public_ip {
        _ if instance.state == InstanceState::Stopped
            || found.primary_ip().is_some_and(|ip| is_elastic(&ip)) =>
        {
            None
        }
        None if instance.state == InstanceState::Running
            && instance.network_interfaces.len() == 1
            && !found.private_ips.iter().any(is_elastic) =>
        {
            Some(free_public_address(call)?)
        }
        unchanged => unchanged,
    };
    if (public_ip, true) != (found.public_ip, found.wants_public_ip) {
        let found = call.account.network_interfaces.edit(interface)?;
        (found.public_ip, found.wants_public_ip) = (public_ip, true);
    }
    Ok(())
}

/// An elastic address is of use only in a VPC that has an internet gateway.
pub fn require_way_out(account: &Account, vpc: &str) -> ApiResult<()> {
    match account.internet_gateways.with(InternetGateway::BY_VPC, vpc).next() {
        Some(_) => Ok(()),
        None => Err(ApiError::client(
            "Gateway.NotAttached",
            format!("Network {vpc} is not attached to any internet gateway"),
        )),
    }
}

/// The interface of a NAT gateway keeps its address, and gets no other, until the gateway is deleted.
pub fn refuse_managed(account: &Account, interface: &str) -> ApiResult<()> {
    match &account.network_interfaces.find(interface)?.managed_by {
        None => Ok(()),
        Some(owner) => Err(ApiError::client(
            "AuthFailure",
            format!(
                "You do not have permission to access the specified resource: {interface} belongs to {owner}"
            ),
        )),
    }
}

/// Frees every elastic address of an interface that goes away.
pub fn release_from(account: &mut Account, interface: &str) -> ApiResult<()> {
    let tied: Vec<_> =
        account.addresses.with(Address::BY_INTERFACE, interface).map(|address| address.id.clone()).collect();
    for id in tied {
        account.addresses.edit(&id)?.association = None;
    }
    Ok(())
}

pub fn find_public<'a>(account: &'a Account, public_ip: &'a str) -> ApiResult<&'a Address> {
    account.addresses.with(Address::BY_PUBLIC_ADDRESS, public_ip).next().ok_or_else(|| {
        ApiError::client("InvalidAddress.NotFound", format!("Address '{public_ip}' not found."))
    })
}

pub fn of_interface<'a>(
    account: &'a Account,
    interface: &'a str,
    private_ip: Ipv4Addr,
) -> Option<&'a Address> {
    let mut tied = account.addresses.with(Address::BY_INTERFACE, interface);
    tied.find(|address| address.association.as_ref().is_some_and(|a| a.private_ip == private_ip))
}
