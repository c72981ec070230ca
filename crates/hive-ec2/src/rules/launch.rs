//! What a launch makes: an instance, its interfaces, its volumes, all or nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::core::tags::Tags;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::data::instance_types::InstanceType;
use crate::model::image::Image;
use crate::model::instance::{CpuCredits, Instance, InstanceOptions, InstanceState};
use crate::model::key_pair::KeyPair;
use crate::model::network_interface::NetworkInterface;
use crate::model::subnet::{HostnameType, Subnet};
use crate::model::volume::Volume;
use crate::model::vpc::Tenancy;
use crate::node::{Order, RecordsNode};
use crate::rules::devices::{self, NewVolume};
use crate::rules::instance_profiles::ASSOCIATION_KIND;
use crate::rules::interfaces::WantedAddresses;
use crate::rules::{addresses, interfaces, placement, vpcs};

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

impl InterfacePlan {
    /// One that exists is taken as it is: only where it is plugged in, and whether it goes with the instance, may be said.
    fn check_existing(&self) -> ApiResult<()> {
        for (what, is_given) in [
            ("a subnet ID", self.subnet.is_some()),
            ("security groups", !self.groups.is_empty()),
            ("a description", !self.description.is_empty()),
            ("a private IP address", self.private_ips != WantedAddresses::default()),
            ("a secondary private IP address count", self.secondary_count > 0),
            ("an association with a public IP address", self.public_address.is_some()),
        ] {
            if self.existing.is_some() && is_given {
                return Err(ApiError::invalid_combination(format!(
                    "A network interface may not specify both a network interface ID and {what}"
                )));
            }
        }
        Ok(())
    }
}

pub struct DevicePlan {
    pub device: String,
    pub volume: NewVolume,
    pub delete_on_termination: bool,
}

/// What the private names of new instances are made of; the subnet says what the request does not.
#[derive(Default)]
pub struct NamePlan {
    pub hostname_type: Option<HostnameType>,
    pub a_record: Option<bool>,
    pub aaaa_record: Option<bool>,
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
    pub names: NamePlan,
    pub client_token: Option<String>,
    pub tags: Tags,
}

impl Launch {
    pub fn check(&self, call: &Call<'_>) -> ApiResult<()> {
        check_architecture(self.instance_type, &self.image.architecture)?;
        check_ena(self.instance_type, self.image.ena_support, "you are using an AMI that")?;
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
        self.interfaces.iter().try_for_each(InterfacePlan::check_existing)?;
        let mut indices = BTreeSet::new();
        if !self.interfaces.iter().all(|plan| indices.insert(plan.device_index)) {
            let why = "Each network interface requires a unique device index.";
            return Err(ApiError::client("InvalidParameterValue", why));
        }
        if self.interfaces.len() > 1 && self.interfaces.iter().any(|plan| plan.public_address.is_some()) {
            return Err(ApiError::invalid_combination(
                "The associatePublicIPAddress parameter cannot be specified when launching with multiple network \
                 interfaces.",
            ));
        }
        if self.tenancy == Tenancy::Host {
            return Err(ApiError::client("InsufficientHostCapacity", "There are no dedicated hosts here"));
        }
        if let Some(name) = &self.placement_group {
            placement::check_type(placement::by_name(call.account, name)?, self.instance_type)?;
        }
        placement::check(call.account, self.placement_group.as_deref(), self.partition_number)
    }

    /// As many instances as there is room for, of as many as are wanted: never fewer than `least`.
    pub fn count(&self, call: &Call<'_>, least: u32, most: u32) -> ApiResult<u32> {
        let (subnet, zone) = self.place(call)?;
        let mut count = most;
        if let Some(name) = &self.placement_group {
            let group = placement::by_name(call.account, name)?;
            placement::check_zone(call.account, group, &zone)?;
            if let Some(room) = placement::room(call.account, group, &zone) {
                if room < least {
                    return Err(placement::no_room(group, &zone));
                }
                count = count.min(room);
            }
        }
        if count == least {
            return Ok(count);
        }
        // How many addresses one instance takes in each subnet.
        let mut taken: BTreeMap<&str, u64> = BTreeMap::new();
        for plan in self.interfaces.iter().filter(|plan| plan.existing.is_none()) {
            let more = plan.private_ips.secondary.len() as u64 + u64::from(plan.secondary_count);
            *taken.entry(plan.subnet.as_deref().unwrap_or(&subnet)).or_default() += 1 + more;
        }
        for (subnet, taken) in taken {
            let free = vpcs::available_addresses(call.account, call.account.subnets.find(subnet)?);
            // If even the least do not fit, the launch itself says so.
            count = count.min(u32::try_from(free / taken).unwrap_or(u32::MAX)).max(least);
        }
        Ok(count)
    }

    fn primary(&self) -> ApiResult<&InterfacePlan> {
        self.interfaces
            .iter()
            .find(|plan| plan.device_index == 0)
            .ok_or_else(|| ApiError::invalid_combination("An instance needs an interface with DeviceIndex 0"))
    }

    /// The subnet of the primary interface and its zone.
    fn place(&self, call: &Call<'_>) -> ApiResult<(Id<Subnet>, String)> {
        let primary = self.primary()?;
        let (subnet, zone) = match &primary.existing {
            Some(id) => {
                let interface = call.account.network_interfaces.find(id)?;
                (interface.subnet_id.clone(), interface.availability_zone.clone())
            }
            None => {
                let subnet = self.subnet(call, primary.subnet.as_deref())?;
                (subnet.id.clone(), subnet.availability_zone.clone())
            }
        };
        match &self.zone {
            Some(asked) if *asked != zone => {
                Err(ApiError::invalid_value("availabilityZone", asked, "It is not the zone of the subnet."))
            }
            _ => Ok((subnet, zone)),
        }
    }

    /// The options of an instance in a subnet.
    fn options_in(&self, subnet: &Subnet) -> InstanceOptions {
        let mut options = self.options.clone();
        options.hostname_type = self.names.hostname_type.unwrap_or(subnet.private_dns_hostname_type);
        options.resource_name_dns_a_record =
            self.names.a_record.unwrap_or(subnet.enable_resource_name_dns_a_record);
        options.resource_name_dns_aaaa_record =
            self.names.aaaa_record.unwrap_or(subnet.enable_resource_name_dns_aaaa_record);
        options
    }

    /// The subnet that the primary interface is in: named, or the default one of the zone.
    fn subnet<'a>(&self, call: &'a Call<'_>, named: Option<&str>) -> ApiResult<&'a Subnet> {
        match named {
            Some(id) => call.account.subnets.find(id),
            None if call.account.default_vpc().is_none() => Err(ApiError::client(
                "VPCIdNotSpecified",
                "No default VPC for this user. Please specify a subnet.",
            )),
            None => {
                let zone = self.zone.clone().unwrap_or_else(|| call.environment.first_zone());
                let mut all = call.account.subnets.with(Subnet::BY_ZONE, &zone);
                all.find(|subnet| subnet.default_for_az).ok_or_else(|| {
                    ApiError::client(
                        "MissingInput",
                        format!("No subnets found for the default VPC in '{zone}'. Please specify a subnet."),
                    )
                })
            }
        }
    }

    pub fn launch(&self, call: &mut Call<'_>, reservation: &str, index: u32) -> ApiResult<Id<Instance>> {
        let (subnet_id, zone) = self.place(call)?;
        let subnet = call.account.subnets.find(&subnet_id)?;
        let (vpc_id, options) = (subnet.vpc_id.clone(), self.options_in(subnet));
        // In a VPC of one's own hardware is nothing else.
        let tenancy = match call.account.vpcs.find(&vpc_id)?.instance_tenancy {
            Tenancy::Default => self.tenancy,
            of_all => of_all,
        };
        let group = self.placement_group.as_deref();
        let group = group.map(|name| placement::by_name(call.account, name)).transpose()?;
        let partition_number = self.partition_number.or_else(|| placement::partition(call.account, group?));
        let id: Id<Instance> = call.new_id();
        let profile = self.options.iam_instance_profile.as_ref();
        let profile = profile.map(|_| call.random_id(ASSOCIATION_KIND.prefix));
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
            state_reason: noticed(call.notice),
            shut_down: None,
            terminated: None,
            has_run: false,
            rebooting: false,
            trouble: None,
            availability_zone: zone.clone(),
            placement_group: self.placement_group.clone(),
            partition_number,
            tenancy,
            subnet_id: subnet_id.clone(),
            vpc_id,
            network_interfaces: Vec::new(),
            block_devices: Vec::new(),
            root_device_name: self.image.root_device_name.clone(),
            boot_mode: self.image.boot_mode.clone(),
            ena_support: self.image.ena_support,
            options,
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
            addresses::give(call, &interface)?;
        }
        Ok(())
    }
}

/// No type here hibernates, as DescribeInstanceTypes says of each.
pub fn no_hibernation(kind: &str) -> ApiError {
    ApiError::client(
        "UnsupportedHibernationConfiguration",
        format!("The instance type {kind} does not support hibernation here"),
    )
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

/// Nitro has no other network adapter; `what` says who has to know it.
pub fn check_ena(kind: &InstanceType, has_ena: bool, what: &str) -> ApiResult<()> {
    if has_ena || kind.ena_support() != "required" {
        return Ok(());
    }
    Err(ApiError::invalid_combination(format!(
        "Enhanced networking with the Elastic Network Adapter (ENA) is required for the '{}' instance type. Ensure that \
         {what} is enabled for ENA.",
        kind.name
    )))
}

/// T2 spends what it has earned, later families what they need; others have no credits.
pub fn default_credits(kind: &InstanceType, chosen: Option<CpuCredits>) -> Option<CpuCredits> {
    let default = if kind.name.starts_with("t2.") { CpuCredits::Standard } else { CpuCredits::Unlimited };
    kind.burstable.then(|| chosen.unwrap_or(default))
}

/// Code and text of an instance for which nothing else is to be said.
pub fn noticed(notice: Option<&str>) -> Option<(String, String)> {
    notice.map(|text| (RecordsNode::REASON.to_owned(), text.to_owned()))
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
