//! Takes a volume from its instance; the root device only from one that is stopped.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::model::volume::{AttachmentState, VolumeAttachment};
use crate::node::Order;
use crate::view;
use crate::view::volume::AttachmentView;

pub struct DetachVolume;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    volume_id: String,
    instance_id: Option<String>,
    device: Option<String>,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    force: bool,
}

impl Action for DetachVolume {
    const NAME: &'static str = "DetachVolume";
    const WITHOUT_EFFECT: &'static [&'static str] = &["Force"];
    type Request = Request;
    type Response = AttachmentView;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<AttachmentView> {
        let volume = call.account.volumes.find(&request.volume_id)?;
        if volume.attachments.len() > 1 && request.instance_id.is_none() {
            return Err(ApiError::missing_parameter("InstanceId"));
        }
        let named = |a: &&VolumeAttachment| {
            request.instance_id.as_ref().is_none_or(|id| *a.instance_id == **id)
                && request.device.as_ref().is_none_or(|device| a.device == *device)
        };
        let attachment =
            volume.attachments.iter().find(named).ok_or_else(|| match volume.attachments.is_empty() {
                true => ApiError::client(
                    "IncorrectState",
                    format!("Volume '{}' is in the 'available' state.", volume.id),
                ),
                false => {
                    let message = format!("Volume '{}' is not attached like that.", volume.id);
                    ApiError::client("InvalidAttachment.NotFound", message)
                }
            })?;
        let (id, instance) = (volume.id.clone(), attachment.instance_id.clone());
        if let Some(found) = call.account.instances.get(&instance)
            && found.root_device_name == attachment.device
            && found.state != InstanceState::Stopped
        {
            return Err(ApiError::client(
                "OperationNotPermitted",
                "Unable to detach root volume of an instance that is not stopped",
            ));
        }
        let volume = call.account.volumes.edit(&id)?;
        let mut answer = None;
        for attachment in volume.attachments.iter_mut().filter(|a| a.instance_id == instance) {
            attachment.state = AttachmentState::Detaching;
            answer = Some(view::volume::attachment(attachment, &id));
        }
        call.order(Order::DetachVolume(id, instance));
        answer.ok_or_else(|| ApiError::internal("the attachment is gone"))
    }
}
