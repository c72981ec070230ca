//! Lists network interfaces.

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

static FILTERS: Filters<NetworkInterface> = Filters::of(&[
    (
        "association.allocation-id",
        Through(
            |i, account| maybe(address(i, account).map(|a| &a.id)),
            |account, id| with_address(account.addresses.get(id).into_iter()),
        ),
    ),
    (
        "association.public-ip",
        Through(
            |i, account| maybe(address(i, account).map(|a| a.public_ip).or(i.public_ip)),
            |account, ip| {
                let own = account.network_interfaces.with(NetworkInterface::BY_PUBLIC_ADDRESS, ip);
                let mut ids = with_address(account.addresses.with(Address::BY_PUBLIC_ADDRESS, ip));
                ids.extend(own.map(|i| i.id.to_string()));
                ids
            },
        ),
    ),
    ("attachment.instance-owner-id", Of(|i, account| maybe(i.attachment.as_ref().map(|_| &account.id)))),
    (
        "group-name",
        Through(
            |i, account| {
                let groups = i.groups.iter().filter_map(|id| account.security_groups.get(id));
                groups.map(|group| group.name.clone()).collect()
            },
            |account, name| {
                let groups = account.security_groups.with(SecurityGroup::BY_NAME, name);
                let interfaces =
                    groups.flat_map(|g| account.network_interfaces.with(NetworkInterface::BY_GROUP, &g.id));
                interfaces.map(|i| i.id.to_string()).collect()
            },
        ),
    ),
    ("owner-id", Same(|account| account.id.to_string())),
])
.shown("DescribeNetworkInterfaces", |interface, call| {
    shown(view::network_interface::network_interface(interface, call))
});

/// The elastic address of its primary address.
fn address<'a>(interface: &'a NetworkInterface, account: &'a Account) -> Option<&'a Address> {
    addresses::of_interface(account, &interface.id, interface.primary_ip()?)
}

fn with_address<'a>(addresses: impl Iterator<Item = &'a Address>) -> Vec<String> {
    let associations = addresses.filter_map(|address| address.association.as_ref());
    associations.map(|association| association.network_interface_id.to_string()).collect()
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
