//! Takes secondary private addresses from an interface.

use super::prelude::*;
use std::net::Ipv4Addr;

use crate::rules::addresses;

pub struct UnassignPrivateIpAddresses;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_interface_id: String,
    #[serde(default)]
    private_ip_address: Vec<Ipv4Addr>,
}

impl Action for UnassignPrivateIpAddresses {
    const NAME: &'static str = "UnassignPrivateIpAddresses";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        if request.private_ip_address.is_empty() {
            return Err(ApiError::missing_parameter("privateIpAddress"));
        }
        addresses::refuse_managed(call.account, &request.network_interface_id)?;
        let interface = call.account.network_interfaces.edit(&request.network_interface_id)?;
        for address in &request.private_ip_address {
            if !interface.private_ips.contains(address) || interface.primary_ip() == Some(*address) {
                return Err(ApiError::invalid_value(
                    "PrivateIpAddress",
                    &address.to_string(),
                    "It is not a secondary address of the interface.",
                ));
            }
        }
        interface.private_ips.retain(|address| !request.private_ip_address.contains(address));
        let id = interface.id.clone();
        for address in &request.private_ip_address {
            if let Some(elastic) =
                addresses::of_interface(call.account, &id, *address).map(|elastic| elastic.id.clone())
            {
                addresses::disassociate(call, &elastic)?;
            }
        }
        Done::ok()
    }
}
