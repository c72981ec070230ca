//! `<address>`, and how a public address shows on an interface.

use serde::Serialize;

use super::{TagView, tags};
use crate::core::call::Call;
use crate::model::account::Account;
use crate::model::address::Address;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddressView {
    public_ip: String,
    allocation_id: String,
    association_id: Option<String>,
    domain: &'static str,
    instance_id: Option<String>,
    network_interface_id: Option<String>,
    network_interface_owner_id: Option<String>,
    private_ip_address: Option<String>,
    public_ipv4_pool: &'static str,
    network_border_group: String,
    tag_set: Vec<TagView>,
}

/// The instance that an elastic address leads to, if its interface is plugged into one.
pub fn instance_of(address: &Address, account: &Account) -> Option<String> {
    let association = address.association.as_ref()?;
    let interface = account.network_interfaces.get(&association.network_interface_id)?;
    interface.attachment.as_ref().map(|attachment| attachment.instance_id.to_string())
}

pub fn address(address: &Address, call: &Call<'_>) -> AddressView {
    let association = address.association.as_ref();
    AddressView {
        public_ip: address.public_ip.to_string(),
        allocation_id: address.id.to_string(),
        association_id: association.map(|a| a.id.clone()),
        domain: "vpc",
        instance_id: instance_of(address, call.account),
        network_interface_id: association.map(|a| a.network_interface_id.to_string()),
        network_interface_owner_id: association.map(|_| call.account.id.to_string()),
        private_ip_address: association.map(|a| a.private_ip.to_string()),
        public_ipv4_pool: "amazon",
        network_border_group: call.environment.region.clone(),
        tag_set: tags(&address.tags),
    }
}
