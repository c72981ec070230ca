//! The parameters of RunInstances and what they mean for a launch.

use std::net::Ipv4Addr;

use serde::Deserialize;

use crate::action::prelude::*;
use crate::core::table::Resource;
use crate::data::instance_types::InstanceType;
use crate::model::image::{Image, ImageVolume};
use crate::model::instance::{
    AutoRecovery, CpuCredits, InstanceOptions, MetadataOptions, ShutdownBehavior, Switch, Tokens,
};
use crate::model::security_group::SecurityGroup;
use crate::model::subnet::HostnameType;
use crate::model::volume::VolumeType;
use crate::model::vpc::Tenancy;
use crate::rules::devices::{NewVolume, is_device_name};
use crate::rules::instance_profiles::Profile;
use crate::rules::interfaces::{ListedAddress, WantedAddresses};
use crate::rules::launch::{DevicePlan, InterfacePlan, check_hop_limit, default_credits};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    pub min_count: u32,
    pub max_count: u32,
    pub image_id: Option<String>,
    pub instance_type: Option<String>,
    pub key_name: Option<String>,
    subnet_id: Option<String>,
    #[serde(default)]
    security_group_id: Vec<String>,
    /// By name: of the default VPC.
    #[serde(default)]
    security_group: Vec<String>,
    private_ip_address: Option<Ipv4Addr>,
    #[serde(default)]
    network_interface: Vec<Interface>,
    #[serde(default)]
    block_device_mapping: Vec<Device>,
    placement: Option<Placement>,
    user_data: Option<String>,
    monitoring: Option<Enabled>,
    ebs_optimized: Option<bool>,
    disable_api_termination: Option<bool>,
    disable_api_stop: Option<bool>,
    instance_initiated_shutdown_behavior: Option<ShutdownBehavior>,
    metadata_options: Option<Metadata>,
    credit_specification: Option<Credits>,
    maintenance_options: Option<Maintenance>,
    private_dns_name_options: Option<DnsName>,
    cpu_options: Option<Cpu>,
    hibernation_options: Option<Configured>,
    enclave_options: Option<Enabled>,
    capacity_reservation_specification: Option<Capacity>,
    iam_instance_profile: Option<Profile>,
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

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Interface {
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

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Device {
    device_name: String,
    no_device: Option<String>,
    virtual_name: Option<String>,
    ebs: Option<Ebs>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Ebs {
    volume_size: Option<u32>,
    volume_type: Option<VolumeType>,
    iops: Option<u32>,
    throughput: Option<u32>,
    encrypted: Option<bool>,
    kms_key_id: Option<String>,
    snapshot_id: Option<String>,
    delete_on_termination: Option<bool>,
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

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Enabled {
    enabled: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Configured {
    configured: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Metadata {
    http_tokens: Option<Tokens>,
    http_put_response_hop_limit: Option<u32>,
    http_endpoint: Option<Switch>,
    http_protocol_ipv6: Option<Switch>,
    instance_metadata_tags: Option<Switch>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Credits {
    cpu_credits: CpuCredits,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Maintenance {
    auto_recovery: Option<AutoRecovery>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DnsName {
    hostname_type: Option<HostnameType>,
    enable_resource_name_dns_a_record: Option<bool>,
    #[serde(rename = "EnableResourceNameDnsAAAARecord")]
    enable_resource_name_dns_aaaa_record: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Cpu {
    core_count: Option<u32>,
    threads_per_core: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Capacity {
    capacity_reservation_preference: Option<String>,
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

    /// The interfaces that were described, or the one that subnet, groups and address describe together.
    pub fn interfaces(&self, count: u32, account: &Account) -> ApiResult<Vec<InterfacePlan>> {
        let groups = self.groups(account)?;
        if self.network_interface.is_empty() {
            return Ok(vec![InterfacePlan {
                existing: None,
                device_index: 0,
                subnet: self.subnet_id.clone(),
                description: String::new(),
                private_ips: WantedAddresses::new(self.private_ip_address, &[]),
                secondary_count: 0,
                groups,
                public_address: None,
                delete_on_termination: true,
            }]);
        }
        if self.subnet_id.is_some() || !groups.is_empty() {
            return Err(ApiError::invalid_combination(
                "Network interfaces and an instance-level subnet ID or security groups may not be specified on the \
                 same request",
            ));
        }
        if count > 1
            && self.network_interface.iter().any(|interface| interface.network_interface_id.is_some())
        {
            return Err(ApiError::invalid_combination(
                "An existing interface can be given to one instance only",
            ));
        }
        Ok(self.network_interface.iter().map(Interface::plan).collect())
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

    /// The devices of the image, changed as asked, then those that were added; the root device is the first.
    pub fn devices(&self, image: &Image) -> ApiResult<Vec<DevicePlan>> {
        if let Some(device) = self.block_device_mapping.iter().find(|d| !is_device_name(&d.device_name)) {
            return Err(ApiError::client(
                "InvalidBlockDeviceMapping",
                format!("Invalid device name {}", device.device_name),
            ));
        }
        let asked = |name: &str| self.block_device_mapping.iter().find(|device| device.device_name == name);
        let mut devices = Vec::new();
        for device in &image.devices {
            let Some(volume) = &device.volume else { continue };
            let changed = asked(&device.name);
            let is_root = device.name == image.root_device_name;
            if !is_root && changed.is_some_and(|changed| changed.no_device.is_some()) {
                continue;
            }
            let plan = device_plan(&device.name, changed, Some(volume));
            if let Some(small) = plan.volume.size.filter(|size| *size < volume.size) {
                return Err(ApiError::client(
                    "InvalidBlockDeviceMapping",
                    format!("Volume of size {small}GB is smaller than the image ({}GB)", volume.size),
                ));
            }
            let at = if is_root { 0 } else { devices.len() };
            devices.insert(at, plan);
        }
        for device in &self.block_device_mapping {
            let known = image.devices.iter().any(|own| own.name == device.device_name);
            if !known && device.no_device.is_none() && device.virtual_name.is_none() {
                devices.push(device_plan(&device.device_name, Some(device), None));
            }
        }
        Ok(devices)
    }

    pub fn options(&self, kind: &InstanceType, account: &Account) -> ApiResult<InstanceOptions> {
        let credits = self.credit_specification.as_ref().map(|credits| credits.cpu_credits);
        if credits.is_some() && !kind.burstable {
            return Err(ApiError::client(
                "InvalidParameterCombination",
                format!("The {} instance type does not support a credit specification", kind.name),
            ));
        }
        let names = self.private_dns_name_options.as_ref();
        let cpu = self.cpu_options.as_ref();
        let profile = self.iam_instance_profile.as_ref().map(|profile| profile.arn(account)).transpose()?;
        Ok(InstanceOptions {
            user_data: self.user_data.clone().filter(|data| !data.is_empty()),
            monitoring: self.monitoring.as_ref().and_then(|m| m.enabled).unwrap_or(false),
            ebs_optimized: self.ebs_optimized.unwrap_or(false),
            disable_api_termination: self.disable_api_termination.unwrap_or(false),
            disable_api_stop: self.disable_api_stop.unwrap_or(false),
            shutdown_behavior: self.instance_initiated_shutdown_behavior.unwrap_or(ShutdownBehavior::Stop),
            metadata: self.metadata()?,
            cpu_credits: default_credits(kind, credits),
            auto_recovery: self
                .maintenance_options
                .as_ref()
                .and_then(|m| m.auto_recovery)
                .unwrap_or(AutoRecovery::Default),
            hostname_type: names.and_then(|n| n.hostname_type).unwrap_or(HostnameType::IpName),
            resource_name_dns_a_record: names
                .and_then(|n| n.enable_resource_name_dns_a_record)
                .unwrap_or(false),
            resource_name_dns_aaaa_record: names
                .and_then(|n| n.enable_resource_name_dns_aaaa_record)
                .unwrap_or(false),
            core_count: cpu.and_then(|c| c.core_count).unwrap_or(kind.cores),
            threads_per_core: cpu.and_then(|c| c.threads_per_core).unwrap_or(kind.threads_per_core()),
            hibernation: self.hibernation_options.as_ref().and_then(|h| h.configured).unwrap_or(false),
            enclave: self.enclave_options.as_ref().and_then(|e| e.enabled).unwrap_or(false),
            capacity_reservation_preference: self
                .capacity_reservation_specification
                .as_ref()
                .and_then(|c| c.capacity_reservation_preference.clone())
                .unwrap_or_else(|| "open".to_owned()),
            iam_instance_profile: profile,
        })
    }

    fn metadata(&self) -> ApiResult<MetadataOptions> {
        let defaults = MetadataOptions::default();
        let Some(asked) = &self.metadata_options else { return Ok(defaults) };
        check_hop_limit(asked.http_put_response_hop_limit)?;
        Ok(MetadataOptions {
            http_tokens: asked.http_tokens.unwrap_or(defaults.http_tokens),
            http_put_response_hop_limit: asked
                .http_put_response_hop_limit
                .unwrap_or(defaults.http_put_response_hop_limit),
            http_endpoint: asked.http_endpoint.unwrap_or(defaults.http_endpoint),
            http_protocol_ipv6: asked.http_protocol_ipv6.unwrap_or(defaults.http_protocol_ipv6),
            instance_metadata_tags: asked.instance_metadata_tags.unwrap_or(defaults.instance_metadata_tags),
        })
    }
}

impl Interface {
    fn plan(&self) -> InterfacePlan {
        InterfacePlan {
            existing: self.network_interface_id.clone(),
            device_index: self.device_index.unwrap_or(0),
            subnet: self.subnet_id.clone(),
            description: self.description.clone(),
            private_ips: WantedAddresses::new(self.private_ip_address, &self.private_ip_addresses),
            secondary_count: self.secondary_private_ip_address_count.unwrap_or(0),
            groups: self.security_group_id.clone(),
            public_address: self.associate_public_ip_address,
            // An interface that was there before stays, one made for the instance goes with it.
            delete_on_termination: self.delete_on_termination.unwrap_or(self.network_interface_id.is_none()),
        }
    }
}

fn device_plan(name: &str, device: Option<&Device>, image: Option<&ImageVolume>) -> DevicePlan {
    let default = Ebs::default();
    let ebs = device.and_then(|device| device.ebs.as_ref()).unwrap_or(&default);
    let volume_type = ebs.volume_type.or(image.map(|image| image.volume_type));
    // What the image says of a type's speed holds for that type only.
    let image_speed = image.filter(|image| Some(image.volume_type) == volume_type);
    let in_image = image.and_then(|image| image.snapshot_id.as_ref()).map(ToString::to_string);
    DevicePlan {
        device: name.to_owned(),
        volume: NewVolume {
            size: ebs.volume_size.or(image.map(|image| image.size)),
            volume_type,
            // That of gp2 follows its size, and nobody may say it.
            iops: ebs.iops.or(image_speed
                .filter(|image| image.volume_type != VolumeType::Gp2)
                .and_then(|image| image.iops)),
            throughput: ebs.throughput.or(image_speed.and_then(|image| image.throughput)),
            encrypted: ebs.encrypted.or(image.filter(|image| image.encrypted).map(|_| true)),
            kms_key_id: ebs.kms_key_id.clone(),
            snapshot_id: ebs.snapshot_id.clone().or(in_image),
            ..NewVolume::default()
        },
        delete_on_termination: ebs
            .delete_on_termination
            .or(image.map(|image| image.delete_on_termination))
            .unwrap_or(true),
    }
}
