//! Lists elastic addresses.

use super::prelude::*;
use crate::model::address::Address;
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

static FILTERS: &[FilterRow<Address>] = &[
    ("allocation-id", |address, _| one(&address.id)),
    ("association-id", |address, _| maybe(address.association.as_ref().map(|a| &a.id))),
    ("domain", |_, _| one("vpc")),
    ("instance-id", |address, account| maybe(view::address::instance_of(address, account))),
    ("network-interface-id", |address, _| {
        maybe(address.association.as_ref().map(|a| &a.network_interface_id))
    }),
    ("private-ip-address", |address, _| maybe(address.association.as_ref().map(|a| a.private_ip))),
    ("public-ip", |address, _| one(address.public_ip)),
];

impl Action for DescribeAddresses {
    const NAME: &'static str = "DescribeAddresses";
    const ACCEPTS: Accepts = Accepts::FILTERS;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut ids = request.allocation_id;
        for ip in &request.public_ip {
            ids.push(addresses::find_public(call.account, ip)?.id.to_string());
        }
        let page = call.select(&call.account.addresses, &ids, FILTERS)?;
        Ok(Response {
            addresses_set: page.items.iter().map(|address| view::address::address(address, call)).collect(),
        })
    }
}
