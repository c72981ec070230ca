//! Attaches a volume to an instance of the same zone.

use super::prelude::*;
use crate::rules::devices;
use crate::view;
use crate::view::volume::AttachmentView;

pub struct AttachVolume;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    volume_id: String,
    instance_id: String,
    device: String,
}

impl Action for AttachVolume {
    const NAME: &'static str = "AttachVolume";
    type Request = Request;
    type Response = AttachmentView;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<AttachmentView> {
        devices::attach_volume(call, &request.volume_id, &request.instance_id, &request.device, false)?;
        let volume = call.account.volumes.find(&request.volume_id)?;
        let attachment = volume.attachments.iter().find(|a| *a.instance_id == *request.instance_id);
        let attachment = attachment.ok_or_else(|| ApiError::internal("the attachment was not made"))?;
        Ok(view::volume::attachment(attachment, &volume.id))
    }
}
