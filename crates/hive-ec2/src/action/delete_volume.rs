//! Deletes a volume that is attached to nothing.

use super::prelude::*;
use crate::model::volume::VolumeState;
use crate::node::Order;

pub struct DeleteVolume;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    volume_id: String,
}

impl Action for DeleteVolume {
    const NAME: &'static str = "DeleteVolume";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let volume = call.account.volumes.find(&request.volume_id)?;
        if let Some(attachment) = volume.attachments.first() {
            return Err(ApiError::client(
                "VolumeInUse",
                format!("Volume {} is currently attached to {}", volume.id, attachment.instance_id),
            ));
        }
        let id = volume.id.clone();
        call.account.volumes.edit(&id)?.state = VolumeState::Deleting;
        call.order(Order::DeleteVolume(id));
        Done::ok()
    }
}
