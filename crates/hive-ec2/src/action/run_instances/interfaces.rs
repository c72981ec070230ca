//! The network interfaces that a launch asks for.

use std::net::Ipv4Addr;

use serde::Deserialize;

use super::request::Request;
use crate::action::prelude::*;
use crate::core::table::Resource;
use crate::model::security_group::SecurityGroup;
use crate::rules::interfaces::{ListedAddress, WantedAddresses};
use crate::rules::launch::InterfacePlan;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Interface {
    device_index: Option<u32>,
    network_interface_id: Option<String>,
    subnet_id: Option<String>,
    #[serde(default)]
    description: String,
    private_ip_address: Option<Ipv4Addr>,
    #[serde(default)]
    private_ip_addresses: Vec<ListedAddress>,
    secondary_private_ip_address_count: Option<u32>,
    #[serde(default)]
    security_group_id: Vec<String>,
    associate_public_ip_address: Option<bool>,
    delete_on_termination: Option<bool>,
}

impl Request {
    /// The interfaces that were described, or the one that subnet, groups and address describe together.
    pub fn interfaces(&self, count: u32, account: &Account) -> ApiResult<Vec<InterfacePlan>> {
        let groups = self.groups(account)?;
        if self.network_interface.is_empty() {
            return Ok(vec![InterfacePlan {
                existing: None,
                device_index: 0,
                subnet: self.subnet_id.clone(),
                description: String::new(),
                private_ips: WantedAddresses::new(self.private_ip_address, &[])?,
                secondary_count: 0,
                groups,
                public_address: None,
                delete_on_termination: true,
            }]);
        }
        for (what, is_given) in [
            ("subnet ID", self.subnet_id.is_some()),
            ("security groups", !groups.is_empty()),
            ("private IP address", self.private_ip_address.is_some()),
        ] {
            if is_given {
                return Err(ApiError::invalid_combination(format!(
                    "Network interfaces and an instance-level {what} may not be specified on the same request"
                )));
            }
        }
        if count > 1
            && self.network_interface.iter().any(|interface| interface.network_interface_id.is_some())
        {
            return Err(ApiError::invalid_combination(
                "An existing interface can be given to one instance only",
            ));
        }
        self.network_interface.iter().map(Interface::plan).collect()
    }

    fn groups(&self, account: &Account) -> ApiResult<Vec<String>> {
        if !self.security_group.is_empty() && self.subnet_id.is_some() {
            return Err(ApiError::invalid_combination(
                "The parameter groupName cannot be used with the parameter subnet",
            ));
        }
        let default = account.default_vpc().map(|vpc| vpc.id.to_string()).unwrap_or_default();
        let named = self.security_group.iter().map(|name| {
            let mut all = account.security_groups.with(SecurityGroup::BY_VPC, &default);
            let found = all.find(|group| group.name == *name).map(|group| group.id.to_string());
            found.ok_or_else(|| {
                let message =
                    format!("The security group '{name}' does not exist in default VPC '{default}'");
                ApiError::client(SecurityGroup::KIND.not_found, message)
            })
        });
        self.security_group_id.iter().cloned().map(Ok).chain(named).collect()
    }
}

impl Interface {
    fn plan(&self) -> ApiResult<InterfacePlan> {
        Ok(InterfacePlan {
            existing: self.network_interface_id.clone(),
            device_index: self.device_index.unwrap_or(0),
            subnet: self.subnet_id.clone(),
            description: self.description.clone(),
            private_ips: WantedAddresses::new(self.private_ip_address, &self.private_ip_addresses)?,
            secondary_count: self.secondary_private_ip_address_count.unwrap_or(0),
            groups: self.security_group_id.clone(),
            public_address: self.associate_public_ip_address,
            // An interface that was there before stays, one made for the instance goes with it.
            delete_on_termination: self.delete_on_termination.unwrap_or(self.network_interface_id.is_none()),
        })
    }
}
