//! NAT gateways: their interface, their address, and what is left of them.

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use crate::model::account::Account;
use crate::model::nat_gateway::{Connectivity, NatGateway, NatGatewayState};
use crate::node::Order;
use crate::rules::addresses;
use crate::rules::interfaces::{self, NewInterface, WantedAddresses};

pub fn create(
    call: &mut Call<'_>,
    subnet: &str,
    connectivity: Connectivity,
    allocation: Option<&str>,
    private_ip: Option<std::net::Ipv4Addr>,
) -> ApiResult<Id<NatGateway>> {
    match (connectivity, allocation) {
        (Connectivity::Public, None) => return Err(ApiError::missing_parameter("AllocationId")),
        (Connectivity::Private, Some(_)) => {
            return Err(ApiError::invalid_combination("A private NAT gateway has no elastic address"));
        }
        _ => {}
    }
    let id: Id<NatGateway> = call.new_id();
    let new = NewInterface {
        description: format!("Interface for NAT Gateway {id}"),
        private_ips: WantedAddresses::new(private_ip, &[])?,
        tags: Tags::default(),
        ..NewInterface::default()
    };
    let interface_id = interfaces::create(call, subnet, new)?;
    let interface = call.account.network_interfaces.edit(&interface_id)?;
    interface.managed_by = Some(id.to_string());
    // An appliance that forwards, and that no group guards.
    interface.source_dest_check = false;
    interface.groups.clear();
    let (subnet_id, vpc_id) = (interface.subnet_id.clone(), interface.vpc_id.clone());
    let private_ip =
        interface.primary_ip().ok_or_else(|| ApiError::internal("an interface without address"))?;
    let address = allocation.map(|id| call.account.addresses.find(id)).transpose()?;
    let failure = match address.map(|address| &address.association) {
        // Private, and reached by nobody.
        None => None,
        Some(_) if addresses::require_way_out(call.account, &vpc_id).is_err() => {
            let message = format!("Network {vpc_id} has no Internet gateway attached");
            Some(("Gateway.NotAttached".to_owned(), message))
        }
        Some(Some(_)) => {
            let message =
                format!("Elastic IP address [{}] is already associated", allocation.unwrap_or_default());
            Some(("Resource.AlreadyAssociated".to_owned(), message))
        }
        Some(None) => None,
    };
    let association_id = match allocation.filter(|_| failure.is_none()) {
        Some(allocation) => Some(addresses::associate(call, allocation, &interface_id, None, false)?),
        None => None,
    };
    let address = allocation.map(|id| call.account.addresses.find(id)).transpose()?;
    let gateway = NatGateway {
        id: id.clone(),
        subnet_id,
        vpc_id,
        connectivity,
        state: NatGatewayState::Pending,
        created: call.now,
        deleted: None,
        network_interface_id: interface_id,
        private_ip,
        allocation_id: address.map(|address| address.id.clone()),
        public_ip: address.map(|address| address.public_ip),
        association_id,
        failure: None,
        tags: call.new_tags::<NatGateway>(),
    };
    call.account.nat_gateways.insert(gateway);
    match failure {
        Some(reason) => failed(call, &id, reason)?,
        None => call.order(Order::CreateNatGateway(id.clone())),
    }
    Ok(id)
}

/// What it had is free again; it is described for a while, with the reason.
pub fn failed(call: &mut Call<'_>, id: &str, reason: (String, String)) -> ApiResult<()> {
    let interface = call.account.nat_gateways.find(id)?.network_interface_id.clone();
    interfaces::delete(call.account, &interface)?;
    let now = call.now;
    let gateway = call.account.nat_gateways.edit(id)?;
    gateway.state = NatGatewayState::Failed;
    gateway.deleted = Some(now);
    gateway.failure = Some(reason);
    Ok(())
}

/// What the node's report of a deletion means: the interface is gone, the address is free.
pub fn deleted(call: &mut Call<'_>, id: &str) -> ApiResult<()> {
    let Some(gateway) = call.account.nat_gateways.get(id) else { return Ok(()) };
    if gateway.state != NatGatewayState::Deleting {
        return Ok(());
    }
    let interface = gateway.network_interface_id.clone();
    interfaces::delete(call.account, &interface)?;
    let now = call.now;
    let gateway = call.account.nat_gateways.edit(id)?;
    gateway.state = NatGatewayState::Deleted;
    gateway.deleted = Some(now);
    Ok(())
}

pub fn is_alive(account: &Account, id: &str) -> bool {
    account
        .nat_gateways
        .get(id)
        .is_some_and(|gateway| !matches!(gateway.state, NatGatewayState::Deleted | NatGatewayState::Failed))
}
