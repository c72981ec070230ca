//! Lists network interfaces.

use hive_api::pattern::{is_pattern, literal_beginning};

use super::prelude::*;
use crate::model::address::Address;
use crate::model::network_interface::NetworkInterface;
use crate::model::security_group::SecurityGroup;
use crate::rules::addresses;
use crate::view;
use crate::view::network_interface::NetworkInterfaceView;

pub struct DescribeNetworkInterfaces;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    network_interface_id: Vec<String>,
}

pub(super) static FILTERS: Filters<NetworkInterface> = Filters::of(&[
    (
        "association.allocation-id",
        Through(
            |i, account| maybe(address(i, account).map(|a| &a.id)),
            |call, id| with_address(call, call.account.addresses.keys_like(id)),
        ),
    ),
    (
        "association.public-ip",
        Through(|i, account| maybe(address(i, account).map(|a| a.public_ip).or(i.public_ip)), with_public),
    ),
    (
        "attachment.instance-owner-id",
        Through(
            |i, account| maybe(i.attachment.as_ref().map(|_| &account.id)),
            |call, owner| found_if(matches(owner, &call.account.id), || None),
        ),
    ),
    (
        "group-name",
        Through(
            |i, account| {
                let groups = i.groups.iter().filter_map(|id| account.security_groups.get(id));
                groups.map(|group| group.name.clone()).collect()
            },
            |call, name| {
                let groups = SecurityGroup::BY_NAME.found(name)?;
                call.found_from(&call.account.security_groups, groups, |group| {
                    NetworkInterface::BY_GROUP.found(&group.id).unwrap_or_default()
                })
            },
        ),
    ),
    ("owner-id", Same(|account| account.id.to_string())),
])
.shown("DescribeNetworkInterfaces", |interface, call| {
    shown(view::network_interface::network_interface(interface, call))
})
.narrowed(narrow);

/// The elastic address of its primary address.
fn address<'a>(interface: &'a NetworkInterface, account: &'a Account) -> Option<&'a Address> {
    addresses::of_interface(account, &interface.id, interface.primary_ip()?)
}

/// Interfaces can be found by what their addresses are called, and by the elastic addresses that lead to them. Some of these
/// are filters on the interfaces of instances alone.
fn narrow(call: &Call<'_>, name: &str, pattern: &str) -> Option<Found> {
    match name {
        "addresses.association.public-ip" => with_public(call, pattern),
        // Where the network has no names, an address shows an empty one.
        "addresses.association.public-dns-name" | "association.public-dns-name" if pattern.is_empty() => None,
        "addresses.association.public-dns-name" | "association.public-dns-name" => {
            found_behind("ec2-", pattern, |name| with_public(call, &address_in(name)))
        }
        "addresses.association.ip-owner-id"
        | "addresses.association.owner-id"
        | "association.ip-owner-id" => {
            let own =
                found_if(matches(pattern, "amazon"), || Some(NetworkInterface::BY_PUBLIC_ADDRESS.all()));
            let elastic = found_if(matches(pattern, &call.account.id), || {
                with_address(call, Some(Address::BY_INTERFACE.all()))
            });
            Some(own?.or(elastic?))
        }
        "association.association-id" => with_address(call, Address::BY_ASSOCIATION.found(pattern)),
        "addresses.private-dns-name" | "private-dns-name" => {
            found_behind("ip-", pattern, |name| NetworkInterface::BY_ANY_ADDRESS.found(&address_in(name)))
        }
        "attachment.network-card-index" => found_if(matches(pattern, "0"), || None),
        "availability-zone-id" => call.found_in_zone(NetworkInterface::BY_ZONE, pattern),
        _ => None,
    }
}

/// `10.0.0.4` in `10-0-0-4.ec2.internal`, which is what a name says behind `ip-`; as a pattern if that is one.
fn address_in(name: &str) -> String {
    let literal = literal_beginning(name).unwrap_or(name);
    match literal.split_once('.') {
        Some((address, _)) => address.replace('-', "."),
        None => literal.replace('-', ".") + if is_pattern(name) { "*" } else { "" },
    }
}

/// Those to which elastic addresses lead.
fn with_address(call: &Call<'_>, addresses: Option<Found>) -> Option<Found> {
    call.found_from(&call.account.addresses, addresses?, |address| {
        Found::keys(
            address.association.iter().map(|association| association.network_interface_id.to_string()),
        )
    })
}

/// Those with a public address, elastic or not.
fn with_public(call: &Call<'_>, address: &str) -> Option<Found> {
    let elastic = with_address(call, Address::BY_PUBLIC_ADDRESS.found(address))?;
    Some(NetworkInterface::BY_PUBLIC_ADDRESS.found(address)?.or(elastic))
}

impl Action for DescribeNetworkInterfaces {
    const NAME: &'static str = "DescribeNetworkInterfaces";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<NetworkInterfaceView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<NetworkInterfaceView>> {
        let page = call.select(&call.account.network_interfaces, &request.network_interface_id, &FILTERS)?;
        Ok(page.listing("networkInterfaceSet", |i| view::network_interface::network_interface(i, call)))
    }
}
