//! Lists network interfaces.

use super::prelude::*;
use crate::model::network_interface::NetworkInterface;
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    network_interface_set: Vec<NetworkInterfaceView>,
    next_token: Option<String>,
}

static FILTERS: &[FilterRow<NetworkInterface>] = &[
    ("addresses.private-ip-address", |i, _| i.private_ips.iter().map(ToString::to_string).collect()),
    ("association.allocation-id", |i, account| {
        maybe(i.primary_ip().and_then(|ip| addresses::of_interface(account, &i.id, ip)).map(|a| &a.id))
    }),
    ("association.public-ip", |i, account| {
        maybe(
            i.primary_ip()
                .and_then(|ip| addresses::of_interface(account, &i.id, ip))
                .map(|a| a.public_ip)
                .or(i.public_ip),
        )
    }),
    ("attachment.attachment-id", |i, _| maybe(i.last_attachment().map(|(a, _)| &a.id))),
    ("attachment.delete-on-termination", |i, _| {
        maybe(i.attachment.as_ref().map(|a| a.delete_on_termination))
    }),
    ("attachment.device-index", |i, _| maybe(i.attachment.as_ref().map(|a| a.device_index))),
    ("attachment.instance-id", |i, _| maybe(i.attachment.as_ref().map(|a| &a.instance_id))),
    ("attachment.instance-owner-id", |i, account| maybe(i.attachment.as_ref().map(|_| &account.id))),
    ("attachment.status", |i, _| maybe(i.last_attachment().map(|(_, status)| status))),
    ("availability-zone", |i, _| one(&i.availability_zone)),
    ("description", |i, _| one(&i.description)),
    ("group-id", |i, _| i.groups.iter().map(ToString::to_string).collect()),
    ("group-name", |i, account| {
        i.groups.iter().filter_map(|id| account.security_groups.get(id)).map(|g| g.name.clone()).collect()
    }),
    ("interface-type", |i, _| one(i.kind())),
    ("mac-address", |i, _| one(&i.mac_address)),
    ("network-interface-id", |i, _| one(&i.id)),
    ("owner-id", |_, account| one(&account.id)),
    ("private-ip-address", |i, _| maybe(i.primary_ip())),
    ("requester-managed", |i, _| one(i.managed_by.is_some())),
    ("source-dest-check", |i, _| one(i.source_dest_check)),
    ("status", |i, _| {
        one(if i.attachment.is_some() || i.managed_by.is_some() { "in-use" } else { "available" })
    }),
    ("subnet-id", |i, _| one(&i.subnet_id)),
    ("vpc-id", |i, _| one(&i.vpc_id)),
];

impl Action for DescribeNetworkInterfaces {
    const NAME: &'static str = "DescribeNetworkInterfaces";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.network_interfaces, &request.network_interface_id, FILTERS)?;
        let interfaces = page.items.iter().map(|i| view::network_interface::network_interface(i, call));
        Ok(Response { network_interface_set: interfaces.collect(), next_token: page.next_token })
    }
}
