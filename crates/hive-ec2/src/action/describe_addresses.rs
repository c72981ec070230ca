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
    (
        "network-interface-owner-id",
        Through(
            |address, account| maybe(address.association.as_ref().map(|_| &account.id)),
            |call, owner| found_if(matches(owner, &call.account.id), || Some(Address::BY_INTERFACE.all())),
        ),
    ),
])
.shown("DescribeAddresses", |address, call| shown(view::address::address(address, call)));

fn of_instance(call: &Call<'_>, instance: &str) -> Option<Found> {
    let interfaces = NetworkInterface::BY_INSTANCE.found(instance)?;
    call.found_from(&call.account.network_interfaces, interfaces, |interface| {
        Found::keys(
            call.account.addresses.with(Address::BY_INTERFACE, &interface.id).map(|a| a.id.to_string()),
        )
    })
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
