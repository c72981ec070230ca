//! Makes a volume larger, faster or of another type.

use super::prelude::*;
use crate::model::volume::{VolumeModification, VolumeShape, VolumeType};
use crate::rules::devices;
use crate::view;
use crate::view::volume::ModificationView;

pub struct ModifyVolume;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    volume_id: String,
    size: Option<u32>,
    volume_type: Option<VolumeType>,
    iops: Option<u32>,
    throughput: Option<u32>,
    multi_attach_enabled: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    volume_modification: ModificationView,
}

impl Action for ModifyVolume {
    const NAME: &'static str = "ModifyVolume";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let started = call.now;
        let volume = call.account.volumes.edit(&request.volume_id)?;
        let original = volume.shape();
        let volume_type = request.volume_type.unwrap_or(original.volume_type);
        let same_type = volume_type == original.volume_type;
        // Another type starts from its own defaults; the same one keeps what was set. The speed of gp2 follows its size.
        let target = devices::complete_shape(VolumeShape {
            size: request.size.unwrap_or(original.size),
            volume_type,
            iops: request.iops.or(original.iops.filter(|_| same_type && volume_type != VolumeType::Gp2)),
            throughput: request.throughput.or(original.throughput.filter(|_| same_type)),
            multi_attach_enabled: request.multi_attach_enabled.unwrap_or(original.multi_attach_enabled),
        })?;
        if target.size < original.size {
            return Err(ApiError::invalid_value(
                "Size",
                &target.size.to_string(),
                "A volume cannot be made smaller.",
            ));
        }
        volume.size = target.size;
        volume.volume_type = target.volume_type;
        volume.iops = target.iops;
        volume.throughput = target.throughput;
        volume.multi_attach_enabled = target.multi_attach_enabled;
        let change = VolumeModification { started, original, target };
        let view = view::volume::modification(&change, &volume.id);
        volume.modification = Some(change);
        Ok(Response { volume_modification: view })
    }
}
