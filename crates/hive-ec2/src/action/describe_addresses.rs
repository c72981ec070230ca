//! Lists elastic addresses.

use super::prelude::*;
use crate::model::address::Address;
use crate::model::network_interface::NetworkInterface;
use crate::rules::addresses;
use crate::view;
use crate::view::address::AddressView;

pub struct DescribeAddresses;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    allocation_id: Vec<String>,
    #[serde(default)]
    public_ip: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    addresses_set: Vec<AddressView>,
}

static FILTERS: Filters<Address> = Filters::of(&[
    ("domain", Same(|_| "vpc".to_owned())),
    (
        "instance-id",
        Through(|address, account| maybe(view::address::instance_of(address, account)), of_instance),
    ),
])
.shown("DescribeAddresses", |address, call| shown(view::address::address(address, call)));

fn of_instance(account: &Account, instance: &str) -> Vec<String> {
    let interfaces = account.network_interfaces.with(NetworkInterface::BY_INSTANCE, instance);
    let addresses = interfaces.flat_map(|n| account.addresses.with(Address::BY_INTERFACE, &n.id));
    addresses.map(|address| address.id.to_string()).collect()
}

impl Action for DescribeAddresses {
    const NAME: &'static str = "DescribeAddresses";
    const ACCEPTS: Accepts = Accepts::filters(|| FILTERS.names());
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut ids = request.allocation_id;
        for ip in &request.public_ip {
            ids.push(addresses::find_public(call.account, ip)?.id.to_string());
        }
        let page = call.select(&call.account.addresses, &ids, &FILTERS)?;
        Ok(Response {
            addresses_set: page.items.iter().map(|address| view::address::address(address, call)).collect(),
        })
    }
}
