//! Makes an image of snapshots.

use super::prelude::*;
use crate::rules::device_mappings;
use crate::rules::images::{self, DeviceRequest, NewImage};

pub struct RegisterImage;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    name: String,
    /// For images in S3, of which there are none; the provider sends an empty one.
    image_location: Option<String>,
    #[serde(default)]
    description: String,
    architecture: Option<String>,
    root_device_name: Option<String>,
    #[serde(default)]
    block_device_mapping: Vec<DeviceRequest>,
    virtualization_type: Option<String>,
    #[serde(default)]
    ena_support: bool,
    boot_mode: Option<String>,
    imds_support: Option<String>,
    tpm_support: Option<String>,
    sriov_net_support: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    image_id: String,
}

impl Action for RegisterImage {
    const NAME: &'static str = "RegisterImage";
    const ACCEPTS: Accepts = Accepts { tags: &["image"], ..Accepts::NONE };
    const REFUSED_VALUES: &'static [&'static str] =
        &["Architecture=x86_64_mac", "Architecture=arm64_mac", "VirtualizationType=paravirtual"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let architecture = request.architecture.unwrap_or_else(|| "i386".to_owned());
        if !["i386", "x86_64", "arm64"].contains(&architecture.as_str()) {
            return Err(ApiError::invalid_value(
                "Architecture",
                &architecture,
                "Valid: i386, x86_64, arm64.",
            ));
        }
        if let Some(place) = request.image_location.as_deref().filter(|place| !place.is_empty()) {
            return Err(ApiError::invalid_value(
                "ImageLocation",
                place,
                "Images are made of snapshots here.",
            ));
        }
        if let Some(kind) = request.virtualization_type.as_deref().filter(|kind| *kind != "hvm") {
            return Err(ApiError::invalid_value("VirtualizationType", kind, "Machines are hvm here."));
        }
        for (name, value, valid) in [
            ("BootMode", &request.boot_mode, &["legacy-bios", "uefi", "uefi-preferred"][..]),
            ("ImdsSupport", &request.imds_support, &["v2.0"]),
            ("TpmSupport", &request.tpm_support, &["v2.0"]),
            ("SriovNetSupport", &request.sriov_net_support, &["simple"]),
        ] {
            if let Some(value) = value.as_deref().filter(|value| !valid.contains(value)) {
                let why = format!("Valid values: {}.", valid.join(", "));
                return Err(ApiError::invalid_value(name, value, &why));
            }
        }
        if request.tpm_support.is_some() && request.boot_mode.as_deref() != Some("uefi") {
            return Err(ApiError::invalid_combination("TpmSupport needs the BootMode uefi"));
        }
        let root = request.root_device_name.ok_or_else(|| ApiError::missing_parameter("RootDeviceName"))?;
        device_mappings::check(&root, request.block_device_mapping.iter().map(DeviceRequest::mapping))?;
        let mut devices = Vec::new();
        for device in request.block_device_mapping.iter().filter(|device| device.no_device.is_none()) {
            devices.push(device.device(call.account, None)?);
        }
        let from_snapshot = devices
            .iter()
            .any(|d| d.name == root && d.volume.as_ref().is_some_and(|volume| volume.snapshot_id.is_some()));
        if !from_snapshot {
            return Err(ApiError::client(
                "InvalidBlockDeviceMapping",
                format!("The root device {root} must be mapped to a snapshot"),
            ));
        }
        let id = images::create(
            call,
            NewImage {
                name: request.name,
                description: request.description,
                architecture,
                root_device_name: root,
                devices,
                ena_support: request.ena_support,
                boot_mode: request.boot_mode,
                imds_support: request.imds_support,
                tpm_support: request.tpm_support,
                sriov_net_support: request.sriov_net_support,
                source_image_id: None,
                source_instance_id: None,
            },
        )?;
        Ok(Response { image_id: id.to_string() })
    }
}
