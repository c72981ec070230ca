//! Makes a volume larger, faster or of another type.

use super::prelude::*;
use crate::model::volume::{ModificationState, VolumeModification, VolumeShape, VolumeType};
use crate::node::Order;
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
        let changes = [request.size, request.iops, request.throughput];
        if changes == [None; 3] && request.volume_type.is_none() && request.multi_attach_enabled.is_none() {
            return Err(ApiError::missing_parameter("size"));
        }
        let started = call.now;
        let volume = call.account.volumes.edit(&request.volume_id)?;
        devices::check_made(volume)?;
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
        if volume.attachments.len() > 1 && !target.multi_attach_enabled {
            return Err(ApiError::client(
                "IncorrectState",
                format!("Volume {} is attached to several instances: detach it from all but one", volume.id),
            ));
        }
        if volume.is_being_modified() {
            return Err(ApiError::client(
                "IncorrectModificationState",
                format!("Volume {} is being modified already", volume.id),
            ));
        }
        let state = ModificationState::Modifying;
        let change = VolumeModification { started, ended: None, state, original, target };
        let view = view::volume::modification(&change, &volume.id);
        volume.modification = Some(change);
        let id = volume.id.clone();
        call.order(Order::ModifyVolume(id));
        Ok(Response { volume_modification: view })
    }
}
