//! What a launch makes: an instance, its interfaces, its volumes, all or nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use std::sync::Arc;

use crate::data::instance_types::InstanceType;
use crate::model::image::Image;
use crate::model::instance::{CpuCredits, Instance, InstanceOptions, InstanceState};
use crate::model::key_pair::KeyPair;
use crate::model::network_interface::NetworkInterface;
use crate::model::placement_group::{PlacementGroup, Strategy};
use crate::model::subnet::Subnet;
use crate::model::volume::Volume;
use crate::model::vpc::Tenancy;
use crate::node::Order;
use crate::rules::devices::{self, NewVolume};
use crate::rules::instance_profiles::ASSOCIATION_KIND;
use crate::rules::interfaces::WantedAddresses;
use crate::rules::{addresses, interfaces};

/// One interface of a new instance: one that exists, or one to be made.
pub struct InterfacePlan {
    pub existing: Option<String>,
    pub device_index: u32,
    pub subnet: Option<String>,
    pub description: String,
    pub private_ips: WantedAddresses,
    pub secondary_count: u32,
    pub groups: Vec<String>,
    pub public_address: Option<bool>,
    pub delete_on_termination: bool,
}

pub struct DevicePlan {
    pub device: String,
    pub volume: NewVolume,
    pub delete_on_termination: bool,
}

/// Everything that the instances of one launch share.
pub struct Launch {
    pub image: Arc<Image>,
    pub instance_type: &'static InstanceType,
    pub key_name: Option<String>,
    pub zone: Option<String>,
    pub placement_group: Option<String>,
    pub partition_number: Option<u32>,
    pub tenancy: Tenancy,
    pub interfaces: Vec<InterfacePlan>,
    /// The root device is the first.
    pub devices: Vec<DevicePlan>,
    pub options: InstanceOptions,
    pub client_token: Option<String>,
    pub tags: Tags,
}

impl Launch {
    pub fn check(&self, call: &Call<'_>) -> ApiResult<()> {
        check_architecture(self.instance_type, &self.image.architecture)?;
        if let Some(data) = &self.options.user_data {
            check_user_data(data)?;
        }
        if let Some(name) = &self.key_name
            && call.account.key_pairs.with(KeyPair::BY_NAME, name).next().is_none()
        {
            return Err(ApiError::client(
                "InvalidKeyPair.NotFound",
                format!("The key pair '{name}' does not exist"),
            ));
        }
        if let Some(zone) = &self.zone
            && !call.environment.zone_names().any(|known| known == *zone)
        {
            return Err(ApiError::invalid_value(
                "availabilityZone",
                zone,
                "It is not a zone of this region.",
            ));
        }
        if let Some(name) = &self.placement_group {
            let group = call.account.placement_groups.with(PlacementGroup::BY_NAME, name).next().ok_or_else(
                || {
                    ApiError::client(
                        "InvalidPlacementGroup.Unknown",
                        format!("The Placement Group '{name}' is unknown."),
                    )
                },
            )?;
            if self.partition_number.is_some() && group.strategy != Strategy::Partition {
                return Err(ApiError::invalid_combination(
                    "PartitionNumber needs a partition placement group",
                ));
            }
        }
        Ok(())
    }

    /// The subnet that the primary interface is in: named, or the default one of the zone.
    fn subnet<'a>(&self, call: &'a Call<'_>, named: Option<&str>) -> ApiResult<&'a Subnet> {
        let subnet = match named {
            Some(id) => call.account.subnets.find(id)?,
            None => {
                let zone = self.zone.clone().unwrap_or_else(|| call.environment.first_zone());
                let mut all = call.account.subnets.with(Subnet::BY_ZONE, &zone);
                all.find(|subnet| subnet.default_for_az).ok_or_else(|| {
                    ApiError::client(
                        "MissingInput",
                        format!("No subnets found for the default VPC in '{zone}'. Please specify a subnet."),
                    )
                })?
            }
        };
        match &self.zone {
            Some(zone) if *zone != subnet.availability_zone => {
                Err(ApiError::invalid_value("availabilityZone", zone, "It is not the zone of the subnet."))
            }
            _ => Ok(subnet),
        }
    }

    pub fn launch(&self, call: &mut Call<'_>, reservation: &str, index: u32) -> ApiResult<Id<Instance>> {
        let primary = self.interfaces.iter().find(|plan| plan.device_index == 0).ok_or_else(|| {
            ApiError::invalid_combination("An instance needs an interface with DeviceIndex 0")
        })?;
        let (subnet_id, vpc_id, zone) = match &primary.existing {
            Some(id) => {
                let interface = call.account.network_interfaces.find(id)?;
                let found = (&interface.subnet_id, &interface.vpc_id, &interface.availability_zone);
                (found.0.clone(), found.1.clone(), found.2.clone())
            }
            None => {
                let subnet = self.subnet(call, primary.subnet.as_deref())?;
                (subnet.id.clone(), subnet.vpc_id.clone(), subnet.availability_zone.clone())
            }
        };
        let id: Id<Instance> = call.new_id();
        let profile = self.options.iam_instance_profile.as_ref();
        let profile = profile.map(|_| call.random_id(ASSOCIATION_KIND.prefix));
        let notice = call.notice.map(|notice| ("Server.RecordsOnly".to_owned(), notice.to_owned()));
        call.account.instances.insert(Instance {
            id: id.clone(),
            reservation_id: reservation.to_owned(),
            launch_index: index,
            image_id: self.image.id.to_string(),
            instance_type: self.instance_type.name.to_owned(),
            key_name: self.key_name.clone(),
            client_token: self.client_token.clone(),
            launched: call.now,
            state: InstanceState::Pending,
            state_reason: notice,
            terminated: None,
            has_run: false,
            rebooting: false,
            trouble: None,
            availability_zone: zone.clone(),
            placement_group: self.placement_group.clone(),
            partition_number: self.partition_number,
            tenancy: self.tenancy,
            subnet_id: subnet_id.clone(),
            vpc_id,
            network_interfaces: Vec::new(),
            block_devices: Vec::new(),
            root_device_name: self.image.root_device_name.clone(),
            options: self.options.clone(),
            profile_association_id: profile,
            tags: self.tags.clone(),
        });
        for plan in &self.interfaces {
            self.plug(call, &id, plan, &subnet_id)?;
        }
        for plan in &self.devices {
            let tags = call.new_tags::<Volume>();
            let volume = devices::create_volume(call, &zone, NewVolume { tags, ..plan.volume.clone() })?;
            devices::attach_volume(call, &volume, &id, &plan.device, plan.delete_on_termination)?;
        }
        call.order(Order::StartInstance(id.clone()));
        Ok(id)
    }

    fn plug(
        &self,
        call: &mut Call<'_>,
        id: &str,
        plan: &InterfacePlan,
        primary_subnet: &str,
    ) -> ApiResult<()> {
        if let Some(existing) = &plan.existing {
            interfaces::attach(call, existing, id, plan.device_index, plan.delete_on_termination)?;
            return Ok(());
        }
        let subnet = plan.subnet.as_deref().unwrap_or(primary_subnet);
        let new = interfaces::NewInterface {
            description: plan.description.clone(),
            private_ips: plan.private_ips.clone(),
            secondary_count: plan.secondary_count,
            groups: plan.groups.clone(),
            tags: call.new_tags::<NetworkInterface>(),
        };
        let interface = interfaces::create(call, subnet, new)?;
        interfaces::attach(call, &interface, id, plan.device_index, plan.delete_on_termination)?;
        let wanted = match plan.public_address {
            Some(wanted) => wanted,
            None => plan.device_index == 0 && call.account.subnets.find(subnet)?.map_public_ip_on_launch,
        };
        if wanted {
            let address = addresses::free_public_address(call)?;
            call.account.network_interfaces.edit(&interface)?.public_ip = Some(address);
        }
        Ok(())
    }
}

/// User data as it comes: base64, of at most 16 KiB.
pub fn check_user_data(data: &str) -> ApiResult<()> {
    const MOST: usize = 16 * 1024;
    match STANDARD.decode(data.split_ascii_whitespace().collect::<String>()) {
        Err(_) => Err(ApiError::client("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")),
        Ok(bytes) if bytes.len() > MOST => {
            Err(ApiError::client("InvalidParameterValue", "User data is limited to 16384 bytes"))
        }
        Ok(_) => Ok(()),
    }
}

/// A machine type that the image's programs do not run on.
pub fn check_architecture(kind: &InstanceType, image: &str) -> ApiResult<()> {
    if kind.architecture == image {
        return Ok(());
    }
    Err(ApiError::client(
        "InvalidParameterValue",
        format!(
            "The architecture '{}' of the specified instance type does not match the architecture '{image}' of the \
             specified AMI.",
            kind.architecture
        ),
    ))
}

/// T2 spends what it has earned, later families what they need; others have no credits.
pub fn default_credits(kind: &InstanceType, chosen: Option<CpuCredits>) -> Option<CpuCredits> {
    let default = if kind.name.starts_with("t2.") { CpuCredits::Standard } else { CpuCredits::Unlimited };
    kind.burstable.then(|| chosen.unwrap_or(default))
}

/// A state reason that does not hide that no machine is behind the record.
pub fn reason(text: &str, notice: Option<&str>) -> String {
    match notice {
        Some(notice) => format!("{text} ({notice})"),
        None => text.to_owned(),
    }
}

/// How far an answer about the instance itself may travel.
pub fn check_hop_limit(limit: Option<u32>) -> ApiResult<()> {
    match limit.filter(|limit| !(1..=64).contains(limit)) {
        None => Ok(()),
        Some(limit) => Err(ApiError::invalid_value(
            "HttpPutResponseHopLimit",
            &limit.to_string(),
            "It must be between 1 and 64.",
        )),
    }
}
