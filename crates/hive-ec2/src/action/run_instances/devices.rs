//! The volumes that a launch asks for: the image's, changed as asked, and more.

use serde::Deserialize;

use super::request::Request;
use crate::action::prelude::*;
use crate::model::image::{Image, ImageDevice, ImageVolume};
use crate::model::volume::VolumeType;
use crate::rules::device_mappings::{self, DeviceMapping};
use crate::rules::devices::{NewVolume, stay_encrypted};
use crate::rules::launch::DevicePlan;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Device {
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

impl Request {
    /// The devices of the image, changed as asked, then those that were added; the root device is the first.
    pub fn devices(&self, image: &Image) -> ApiResult<Vec<DevicePlan>> {
        let mappings = self.block_device_mapping.iter().map(Device::mapping);
        device_mappings::check(&image.root_device_name, mappings)?;
        let asked = |name: &str| self.block_device_mapping.iter().find(|device| device.device_name == name);
        let mut devices = Vec::new();
        for device in &image.devices {
            let Some(volume) = &device.volume else { continue };
            let changed = asked(&device.name);
            // Also where it shall be a disk of the machine itself: no machine here has one.
            if changed.is_some_and(|changed| changed.no_device.is_some() || changed.virtual_name.is_some()) {
                continue;
            }
            let plan = device_plan(&device.name, changed, Some(volume))?;
            if let Some(small) = plan.volume.size.filter(|size| *size < volume.size) {
                return Err(ApiError::client(
                    "InvalidBlockDeviceMapping",
                    format!("Volume of size {small}GB is smaller than the image ({}GB)", volume.size),
                ));
            }
            let at = if device.name == image.root_device_name { 0 } else { devices.len() };
            devices.insert(at, plan);
        }
        for device in &self.block_device_mapping {
            let is_volume = |own: &ImageDevice| own.name == device.device_name && own.volume.is_some();
            let known = image.devices.iter().any(is_volume);
            if !known && device.no_device.is_none() && device.virtual_name.is_none() {
                devices.push(device_plan(&device.device_name, Some(device), None)?);
            }
        }
        Ok(devices)
    }
}

impl Device {
    fn mapping(&self) -> DeviceMapping<'_> {
        DeviceMapping {
            name: &self.device_name,
            is_left_out: self.no_device.is_some(),
            is_virtual: self.virtual_name.is_some(),
            is_volume: self.ebs.is_some(),
        }
    }
}

fn device_plan(name: &str, device: Option<&Device>, image: Option<&ImageVolume>) -> ApiResult<DevicePlan> {
    let default = Ebs::default();
    let ebs = device.and_then(|device| device.ebs.as_ref()).unwrap_or(&default);
    let volume_type = ebs.volume_type.or(image.map(|image| image.volume_type));
    // What the image says of a type's speed holds for that type only.
    let image_speed = image.filter(|image| Some(image.volume_type) == volume_type);
    let in_image = image.and_then(|image| image.snapshot_id.as_ref()).map(ToString::to_string);
    Ok(DevicePlan {
        device: name.to_owned(),
        volume: NewVolume {
            size: ebs.volume_size.or(image.map(|image| image.size)),
            volume_type,
            // That of gp2 follows its size, and nobody may say it.
            iops: ebs.iops.or(image_speed
                .filter(|image| image.volume_type != VolumeType::Gp2)
                .and_then(|image| image.iops)),
            throughput: ebs.throughput.or(image_speed.and_then(|image| image.throughput)),
            encrypted: stay_encrypted(ebs.encrypted, image.is_some_and(|image| image.encrypted))?,
            kms_key_id: ebs.kms_key_id.clone(),
            is_of_image: ebs.snapshot_id.is_none() && in_image.is_some(),
            snapshot_id: ebs.snapshot_id.clone().or(in_image),
            ..NewVolume::default()
        },
        delete_on_termination: ebs
            .delete_on_termination
            .or(image.map(|image| image.delete_on_termination))
            .unwrap_or(true),
    })
}
