//! Sets one attribute of an instance; some only while it is stopped.

use super::prelude::*;
use crate::data::instance_types;
use crate::model::instance::ShutdownBehavior;
use crate::rules::{interfaces, launch, power};

pub struct ModifyInstanceAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    attribute: Option<String>,
    value: Option<String>,
    instance_type: Option<AttributeValue<String>>,
    user_data: Option<AttributeValue<String>>,
    disable_api_termination: Option<AttributeValue<bool>>,
    disable_api_stop: Option<AttributeValue<bool>>,
    instance_initiated_shutdown_behavior: Option<AttributeValue<ShutdownBehavior>>,
    source_dest_check: Option<AttributeValue<bool>>,
    ebs_optimized: Option<AttributeValue<bool>>,
    #[serde(default)]
    group_id: Vec<String>,
    #[serde(default)]
    block_device_mapping: Vec<DeviceChange>,
}

impl Action for ModifyInstanceAttribute {
    const NAME: &'static str = "ModifyInstanceAttribute";
    const REFUSED_VALUES: &'static [&'static str] = &[
        "Attribute=kernel",
        "Attribute=ramdisk",
        "Attribute=rootDeviceName",
        "Attribute=productCodes",
        "Attribute=sriovNetSupport",
        "Attribute=enaSupport",
        "Attribute=enclaveOptions",
    ];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let mut request = request;
        request.spell_out()?;
        request.check_one()?;
        let instance = call.account.instances.find(&request.instance_id)?;
        let id = instance.id.clone();
        let needs_stop =
            request.instance_type.is_some() || request.user_data.is_some() || request.ebs_optimized.is_some();
        if needs_stop {
            power::check_stopped(instance)?;
        }
        power::check_alive(instance)?;
        if let Some(data) = &request.user_data {
            launch::check_user_data(&data.value)?;
        }
        let of_interface = request.source_dest_check.is_some() || !request.group_id.is_empty();
        if of_interface && instance.network_interfaces.len() > 1 {
            return Err(ApiError::client(
                "InvalidInstanceID",
                format!(
                    "There are multiple interfaces attached to instance '{id}'. Please specify an interface ID for the \
                     operation instead."
                ),
            ));
        }
        let primary = instance.network_interfaces.first().cloned();
        if let Some(primary) = primary {
            if let Some(check) = request.source_dest_check {
                call.account.network_interfaces.edit(&primary)?.source_dest_check = check.value;
            }
            if !request.group_id.is_empty() {
                let interface = call.account.network_interfaces.find(&primary)?;
                let subnet = call.account.subnets.find(&interface.subnet_id)?;
                let groups = interfaces::check_groups(call.account, subnet, &request.group_id)?;
                call.account.network_interfaces.edit(&primary)?.groups = groups;
            }
        }
        for change in request.block_device_mapping {
            change.apply(call, &id)?;
        }
        let instance = call.account.instances.edit(&id)?;
        if let Some(name) = request.instance_type {
            let kind = instance_types::find(&name.value).ok_or_else(|| {
                ApiError::client(
                    "InvalidInstanceAttributeValue",
                    format!("Invalid value '{}' for InstanceType.", name.value),
                )
            })?;
            // The image may be gone: the type that it was started with tells what its programs run on.
            if let Some(present) = instance_types::find(&instance.instance_type) {
                launch::check_architecture(kind, present.architecture)?;
            }
            launch::check_ena(kind, instance.ena_support, "your instance")?;
            instance.instance_type = kind.name.to_owned();
            instance.options.core_count = kind.cores;
            instance.options.threads_per_core = kind.threads_per_core();
            instance.options.cpu_credits = launch::default_credits(kind, instance.options.cpu_credits);
        }
        if let Some(data) = request.user_data {
            instance.options.user_data = Some(data.value).filter(|data| !data.is_empty());
        }
        for (slot, value) in [
            (&mut instance.options.disable_api_termination, request.disable_api_termination),
            (&mut instance.options.disable_api_stop, request.disable_api_stop),
            (&mut instance.options.ebs_optimized, request.ebs_optimized),
        ] {
            if let Some(value) = value {
                *slot = value.value;
            }
        }
        if let Some(behavior) = request.instance_initiated_shutdown_behavior {
            instance.options.shutdown_behavior = behavior.value;
        }
        Done::ok()
    }
}

impl Request {
    /// The attributes that it sets, by their names.
    fn asked(&self) -> Vec<&'static str> {
        let all = [
            ("instanceType", self.instance_type.is_some()),
            ("userData", self.user_data.is_some()),
            ("disableApiTermination", self.disable_api_termination.is_some()),
            ("disableApiStop", self.disable_api_stop.is_some()),
            ("instanceInitiatedShutdownBehavior", self.instance_initiated_shutdown_behavior.is_some()),
            ("sourceDestCheck", self.source_dest_check.is_some()),
            ("ebsOptimized", self.ebs_optimized.is_some()),
            ("groupSet", !self.group_id.is_empty()),
            ("blockDeviceMapping", !self.block_device_mapping.is_empty()),
        ];
        all.into_iter().filter(|(_, is_asked)| *is_asked).map(|(name, _)| name).collect()
    }

    fn asks_for_nothing(&self) -> bool {
        self.asked().is_empty()
    }

    /// EC2 takes one attribute in a request.
    fn check_one(&self) -> ApiResult<()> {
        match self.asked() {
            many if many.len() > 1 => Err(ApiError::invalid_combination(format!(
                "Fields for multiple attribute types specified: {}",
                many.join(", ")
            ))),
            _ => Ok(()),
        }
    }

    /// The old spelling: `Attribute=…&Value=…`.
    fn spell_out(&mut self) -> ApiResult<()> {
        let (name, value) = match (self.attribute.take(), self.value.take()) {
            (Some(name), Some(value)) => (name, value),
            (None, None) if self.asks_for_nothing() => {
                return Err(ApiError::invalid_combination("No attributes specified."));
            }
            (None, None) => return Ok(()),
            (None, Some(_)) => return Err(ApiError::missing_parameter("attribute")),
            // Lists have parameters of their own beside the attribute's name.
            (Some(_), None) if !self.asks_for_nothing() => return Ok(()),
            (Some(_), None) => return Err(ApiError::missing_parameter("value")),
        };
        let flag = || match value.as_str() {
            "true" => Ok(Some(AttributeValue { value: true })),
            "false" => Ok(Some(AttributeValue { value: false })),
            other => Err(ApiError::invalid_value("Value", other, "It must be true or false.")),
        };
        match name.as_str() {
            "instanceType" => self.instance_type = Some(AttributeValue { value }),
            "userData" => self.user_data = Some(AttributeValue { value }),
            "disableApiTermination" => self.disable_api_termination = flag()?,
            "disableApiStop" => self.disable_api_stop = flag()?,
            "sourceDestCheck" => self.source_dest_check = flag()?,
            "ebsOptimized" => self.ebs_optimized = flag()?,
            "instanceInitiatedShutdownBehavior" => {
                let value = match value.as_str() {
                    "stop" => ShutdownBehavior::Stop,
                    "terminate" => ShutdownBehavior::Terminate,
                    other => {
                        return Err(ApiError::invalid_value("Value", other, "It must be stop or terminate."));
                    }
                };
                self.instance_initiated_shutdown_behavior = Some(AttributeValue { value });
            }
            other => return Err(ApiError::invalid_value("Attribute", other, "It cannot be modified.")),
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DeviceChange {
    device_name: String,
    ebs: Option<EbsChange>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EbsChange {
    delete_on_termination: Option<bool>,
    volume_id: Option<String>,
}

impl DeviceChange {
    fn apply(self, call: &mut Call<'_>, instance: &str) -> ApiResult<()> {
        let devices = &call.account.instances.find(instance)?.block_devices;
        let volume = devices.iter().find(|(name, _)| *name == self.device_name).map(|(_, id)| id.clone());
        let volume = volume.ok_or_else(|| {
            ApiError::invalid_value("DeviceName", &self.device_name, "The instance has no such device.")
        })?;
        let Some(ebs) = self.ebs else { return Ok(()) };
        if ebs.volume_id.is_some_and(|id| *id != *volume) {
            return Err(ApiError::invalid_combination("The volume is not attached as this device"));
        }
        for attachment in &mut call.account.volumes.edit(&volume)?.attachments {
            if *attachment.instance_id == *instance {
                attachment.delete_on_termination =
                    ebs.delete_on_termination.unwrap_or(attachment.delete_on_termination);
            }
        }
        Ok(())
    }
}
