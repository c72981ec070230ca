//! The parameters of RunInstances. What they mean for a launch is in the files next to this one.

use std::net::Ipv4Addr;

use serde::Deserialize;

use super::devices::Device;
use super::interfaces::Interface;
use super::options::{Configured, Cpu, Credits, DnsName, Enabled, Maintenance, Metadata};
use crate::action::prelude::*;
use crate::model::instance::ShutdownBehavior;
use crate::model::vpc::Tenancy;
use crate::rules::capacity::CapacityRequest;
use crate::rules::instance_profiles::Profile;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    pub min_count: u32,
    pub max_count: u32,
    pub image_id: Option<String>,
    pub instance_type: Option<String>,
    pub key_name: Option<String>,
    pub(super) subnet_id: Option<String>,
    #[serde(default)]
    pub(super) security_group_id: Vec<String>,
    /// By name: of the default VPC.
    #[serde(default)]
    pub(super) security_group: Vec<String>,
    pub(super) private_ip_address: Option<Ipv4Addr>,
    #[serde(default)]
    pub(super) network_interface: Vec<Interface>,
    #[serde(default)]
    pub(super) block_device_mapping: Vec<Device>,
    placement: Option<Placement>,
    pub(super) user_data: Option<String>,
    pub(super) monitoring: Option<Enabled>,
    pub(super) ebs_optimized: Option<bool>,
    pub(super) disable_api_termination: Option<bool>,
    pub(super) disable_api_stop: Option<bool>,
    pub(super) instance_initiated_shutdown_behavior: Option<ShutdownBehavior>,
    pub(super) metadata_options: Option<Metadata>,
    pub(super) credit_specification: Option<Credits>,
    pub(super) maintenance_options: Option<Maintenance>,
    pub(super) private_dns_name_options: Option<DnsName>,
    pub(super) cpu_options: Option<Cpu>,
    pub(super) hibernation_options: Option<Configured>,
    pub(super) enclave_options: Option<Enabled>,
    pub(super) capacity_reservation_specification: Option<CapacityRequest>,
    pub(super) iam_instance_profile: Option<Profile>,
    #[expect(dead_code, reason = "merged into the other parameters before they are read")]
    launch_template: Option<LaunchTemplate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
#[expect(dead_code, reason = "merged into the other parameters before they are read")]
struct LaunchTemplate {
    launch_template_id: Option<String>,
    launch_template_name: Option<String>,
    version: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Placement {
    availability_zone: Option<String>,
    group_name: Option<String>,
    group_id: Option<String>,
    partition_number: Option<u32>,
    tenancy: Option<Tenancy>,
}

impl Request {
    pub fn zone(&self) -> Option<&str> {
        self.placement.as_ref()?.availability_zone.as_deref().filter(|zone| !zone.is_empty())
    }

    pub fn placement_group(&self, account: &Account) -> ApiResult<Option<String>> {
        let Some(placement) = &self.placement else { return Ok(None) };
        match (&placement.group_name, &placement.group_id) {
            (Some(name), _) if !name.is_empty() => Ok(Some(name.clone())),
            (_, Some(id)) => Ok(Some(account.placement_groups.find(id)?.name.clone())),
            _ => Ok(None),
        }
    }

    pub fn partition_number(&self) -> Option<u32> {
        self.placement.as_ref()?.partition_number
    }

    pub fn tenancy(&self) -> Tenancy {
        self.placement.as_ref().and_then(|placement| placement.tenancy).unwrap_or(Tenancy::Default)
    }
}
