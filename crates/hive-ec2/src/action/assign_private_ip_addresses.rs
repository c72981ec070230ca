//! Gives an interface more private addresses.

use super::prelude::*;
use std::net::Ipv4Addr;

use crate::rules::addresses;
use crate::rules::interfaces::{self, choose_addresses};

pub struct AssignPrivateIpAddresses;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_interface_id: String,
    #[serde(default)]
    private_ip_address: Vec<Ipv4Addr>,
    secondary_private_ip_address_count: Option<u32>,
    #[serde(default)]
    allow_reassignment: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    network_interface_id: String,
    assigned_private_ip_addresses_set: Vec<AssignedView>,
    #[serde(rename = "return")]
    done: bool,
}

impl Action for AssignPrivateIpAddresses {
    const NAME: &'static str = "AssignPrivateIpAddresses";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        addresses::refuse_managed(call.account, &request.network_interface_id)?;
        let moved = match request.allow_reassignment {
            true => interfaces::release(call, &request.network_interface_id, &request.private_ip_address)?,
            false => Vec::new(),
        };
        let interface = call.account.network_interfaces.find(&request.network_interface_id)?;
        let subnet = call.account.subnets.find(&interface.subnet_id)?;
        let count = request.private_ip_address.len()
            + request.secondary_private_ip_address_count.unwrap_or(0) as usize;
        if count == 0 {
            return Err(ApiError::missing_parameter("privateIpAddress"));
        }
        let chosen = choose_addresses(call, subnet, &request.private_ip_address, count)?;
        call.account.network_interfaces.edit(&request.network_interface_id)?.private_ips.extend(&chosen);
        for elastic in moved {
            addresses::follow(call, &elastic, &request.network_interface_id)?;
        }
        let assigned = chosen.iter().map(|address| AssignedView { private_ip_address: address.to_string() });
        Ok(Response {
            network_interface_id: request.network_interface_id,
            assigned_private_ip_addresses_set: assigned.collect(),
            done: true,
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssignedView {
    private_ip_address: String,
}
