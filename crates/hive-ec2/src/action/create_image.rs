//! Makes an image of an instance: a snapshot of each of its volumes.

use super::prelude::*;
use crate::model::image::{ImageDevice, ImageVolume};
use crate::model::instance::InstanceState;
use crate::rules::images::{self, DeviceRequest, NewImage};
use crate::rules::interfaces::incorrect_state;
use crate::rules::{device_mappings, power};

pub struct CreateImage;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    no_reboot: bool,
    #[serde(default)]
    block_device_mapping: Vec<DeviceRequest>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    image_id: String,
}

impl Action for CreateImage {
    const NAME: &'static str = "CreateImage";
    const ACCEPTS: Accepts = Accepts { tags: &["image", "snapshot"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let instance = call.account.instances.find(&request.instance_id)?.clone();
        if !matches!(
            instance.state,
            InstanceState::Running
                | InstanceState::Stopped
                | InstanceState::Pending
                | InstanceState::Stopping
        ) {
            return Err(incorrect_state(&instance, "made an image of"));
        }
        let mappings = request.block_device_mapping.iter().map(DeviceRequest::mapping);
        device_mappings::check(&instance.root_device_name, mappings)?;
        if instance.state == InstanceState::Running && !request.no_reboot {
            power::reboot(call, instance.id.clone())?;
        }
        let asked =
            |name: &str| request.block_device_mapping.iter().find(|device| device.device_name == name);
        let mut devices = Vec::new();
        for (name, volume) in &instance.block_devices {
            let left_out = asked(name).is_some_and(|device| device.no_device.is_some());
            let Some(volume) = call.account.volumes.shared(volume).filter(|_| !left_out) else { continue };
            let attachment = volume.attachments.iter().find(|a| a.instance_id == instance.id);
            let text = format!("Created by CreateImage({})", instance.id);
            let key = volume.kms_key_id.clone().filter(|_| volume.encrypted);
            let own = ImageVolume {
                snapshot_id: Some(images::snapshot(call, &volume.id, volume.size, key, text)),
                size: volume.size,
                volume_type: volume.volume_type,
                iops: volume.iops,
                throughput: volume.throughput,
                encrypted: volume.encrypted,
                delete_on_termination: attachment.is_none_or(|a| a.delete_on_termination),
            };
            devices.push(match asked(name) {
                Some(device) => device.device(call.account, Some(&own))?,
                None => ImageDevice { name: name.clone(), virtual_name: None, volume: Some(own) },
            });
        }
        for device in &request.block_device_mapping {
            let known = instance.block_devices.iter().any(|(name, _)| *name == device.device_name);
            if !known && device.no_device.is_none() {
                devices.push(device.device(call.account, None)?);
            }
        }
        let kind = crate::data::instance_types::find(&instance.instance_type);
        let id = images::create(
            call,
            NewImage {
                name: request.name,
                description: request.description,
                architecture: kind.map_or("x86_64", |kind| kind.architecture).to_owned(),
                root_device_name: instance.root_device_name.clone(),
                devices,
                ena_support: instance.ena_support,
                boot_mode: instance.boot_mode.clone(),
                imds_support: None,
                tpm_support: None,
                sriov_net_support: None,
                source_image_id: None,
                source_instance_id: Some(instance.id.to_string()),
            },
        )?;
        Ok(Response { image_id: id.to_string() })
    }
}
