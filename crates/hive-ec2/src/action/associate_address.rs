//! Ties a public address to an instance or interface.

use super::prelude::*;
use std::net::Ipv4Addr;

use crate::model::instance::InstanceState;
use crate::rules::{addresses, interfaces};

pub struct AssociateAddress;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    allocation_id: Option<String>,
    public_ip: Option<String>,
    instance_id: Option<String>,
    network_interface_id: Option<String>,
    private_ip_address: Option<Ipv4Addr>,
    allow_reassociation: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    association_id: String,
    #[serde(rename = "return")]
    done: bool,
}

impl Action for AssociateAddress {
    const NAME: &'static str = "AssociateAddress";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let account = &*call.account;
        let allocation = match (&request.allocation_id, &request.public_ip) {
            (Some(id), _) => account.addresses.find(id)?.id.clone(),
            (None, Some(ip)) => addresses::find_public(account, ip)?.id.clone(),
            (None, None) => return Err(ApiError::missing_parameter("AllocationId")),
        };
        let interface = match (&request.network_interface_id, &request.instance_id) {
            (Some(id), None) => account.network_interfaces.find(id)?.id.clone(),
            // The AWS provider names both, of which one is still the old one: the private address tells which. Without one the
            // instance is meant, as in EC2.
            (Some(id), Some(instance)) if is_meant(account, id, instance, request.private_ip_address) => {
                account.network_interfaces.find(id)?.id.clone()
            }
            (_, Some(id)) => {
                let instance = account.instances.find(id)?;
                if !matches!(
                    instance.state,
                    InstanceState::Running | InstanceState::Stopped | InstanceState::Pending
                ) {
                    return Err(interfaces::incorrect_state(instance, "given an address"));
                }
                instance
                    .network_interfaces
                    .first()
                    .cloned()
                    .ok_or_else(|| interfaces::incorrect_state(instance, "given an address"))?
            }
            (None, None) => return Err(ApiError::missing_parameter("InstanceId")),
        };
        addresses::refuse_managed(account, &interface)?;
        // EC2 takes it from where it was unless told otherwise.
        let reassociate = request.allow_reassociation.unwrap_or(true);
        let id =
            addresses::associate(call, &allocation, &interface, request.private_ip_address, reassociate)?;
        Ok(Response { association_id: id, done: true })
    }
}

/// Whether an interface has the address that is asked for; if none is, whether it is one of the instance.
fn is_meant(account: &Account, interface: &str, instance: &str, address: Option<Ipv4Addr>) -> bool {
    let Some(interface) = account.network_interfaces.get(interface) else { return false };
    match address {
        Some(address) => interface.private_ips.contains(&address),
        None => interface.attachment.as_ref().is_some_and(|plugged| *plugged.instance_id == *instance),
    }
}
