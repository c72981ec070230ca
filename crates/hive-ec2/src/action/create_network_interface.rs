//! Makes a network interface in a subnet.

use super::prelude::*;
use std::net::Ipv4Addr;

use crate::model::network_interface::NetworkInterface;
use crate::rules::interfaces::{self, ListedAddress, NewInterface, WantedAddresses};
use crate::view;
use crate::view::network_interface::NetworkInterfaceView;

pub struct CreateNetworkInterface;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    subnet_id: String,
    #[serde(default)]
    description: String,
    private_ip_address: Option<Ipv4Addr>,
    #[serde(default)]
    private_ip_addresses: Vec<ListedAddress>,
    secondary_private_ip_address_count: Option<u32>,
    #[serde(default)]
    security_group_id: Vec<String>,
    interface_type: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    network_interface: NetworkInterfaceView,
    client_token: Option<String>,
}

impl Action for CreateNetworkInterface {
    const NAME: &'static str = "CreateNetworkInterface";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["network-interface"], ..Accepts::NONE };
    const REFUSED_VALUES: &'static [&'static str] =
        &["InterfaceType=efa", "InterfaceType=efa-only", "InterfaceType=branch", "InterfaceType=trunk"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        if let Some(kind) = request.interface_type.filter(|kind| kind != "interface") {
            return Err(ApiError::invalid_value("InterfaceType", &kind, "It must be interface."));
        }
        let new = NewInterface {
            description: request.description,
            private_ips: WantedAddresses::new(request.private_ip_address, &request.private_ip_addresses)?,
            secondary_count: request.secondary_private_ip_address_count.unwrap_or(0),
            groups: request.security_group_id,
            tags: call.new_tags::<NetworkInterface>(),
        };
        let id = interfaces::create(call, &request.subnet_id, new)?;
        let network_interface =
            view::network_interface::network_interface(call.account.network_interfaces.find(&id)?, call);
        Ok(Response { network_interface, client_token: call.common.client_token.clone() })
    }
}
