//! Makes another image like one of this region, with snapshots of its own.

use super::prelude::*;
use crate::data::images::NO_VOLUME;
use crate::rules::devices;
use crate::rules::images::{self, NewImage};

pub struct CopyImage;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    source_region: String,
    source_image_id: String,
    name: String,
    description: Option<String>,
    #[serde(default)]
    encrypted: bool,
    kms_key_id: Option<String>,
    #[serde(default)]
    copy_image_tags: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    image_id: String,
}

impl Action for CopyImage {
    const NAME: &'static str = "CopyImage";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["image", "snapshot"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        if request.source_region != call.environment.region {
            let region = &request.source_region;
            return Err(ApiError::invalid_value(
                "SourceRegion",
                region,
                "This endpoint has one region only.",
            ));
        }
        let source = images::find(call, &request.source_image_id)?;
        if source.lender.is_some() {
            return Err(ApiError::client(
                "InvalidRequest",
                "You do not have permission to access the storage of this ami",
            ));
        }
        let mut disks = source.devices.clone();
        let encrypts =
            request.encrypted || request.kms_key_id.is_some() || devices::encrypts_by_default(call.account);
        for volume in disks.iter_mut().filter_map(|device| device.volume.as_mut()) {
            volume.encrypted |= encrypts;
            let text = format!("Copied for {} from {}", request.name, source.id);
            let original =
                volume.snapshot_id.as_ref().and_then(|id| images::find_snapshot(call.account, id).ok());
            let from = original.as_ref().map_or(NO_VOLUME.to_owned(), |snapshot| snapshot.volume_id.clone());
            let key = request.kms_key_id.clone().or_else(|| original?.kms_key_id.clone());
            let key = volume.encrypted.then(|| key.unwrap_or_else(|| devices::default_key(call)));
            volume.snapshot_id = Some(images::snapshot(call, &from, volume.size, key, text));
        }
        let id = images::create(
            call,
            NewImage {
                name: request.name,
                description: request.description.unwrap_or_else(|| source.description.clone()),
                architecture: source.architecture.clone(),
                root_device_name: source.root_device_name.clone(),
                devices: disks,
                ena_support: source.ena_support,
                boot_mode: source.boot_mode.clone(),
                imds_support: source.imds_support.clone(),
                tpm_support: source.tpm_support.clone(),
                sriov_net_support: source.sriov_net_support.clone(),
                source_image_id: Some(source.id.to_string()),
                source_instance_id: None,
            },
        )?;
        if request.copy_image_tags {
            let copy = call.account.images.edit(&id)?;
            for (key, value) in source.tags.iter().filter(|(key, _)| !key.starts_with("aws:")) {
                if copy.tags.get(key).is_none() {
                    copy.tags.set(key.to_owned(), value.to_owned())?;
                }
            }
        }
        Ok(Response { image_id: id.to_string() })
    }
}
