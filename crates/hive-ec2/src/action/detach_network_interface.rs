//! Unplugs an interface; the primary one stays.

use super::prelude::*;
use crate::model::volume::AttachmentState;
use crate::node::Order;
use crate::rules::interfaces;

pub struct DetachNetworkInterface;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    attachment_id: String,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    force: bool,
}

impl Action for DetachNetworkInterface {
    const NAME: &'static str = "DetachNetworkInterface";
    const WITHOUT_EFFECT: &'static [&'static str] = &["Force"];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let interface = interfaces::find_attachment(call.account, &request.attachment_id)?;
        if interface.attachment.as_ref().is_some_and(|attachment| attachment.device_index == 0) {
            return Err(ApiError::client(
                "OperationNotPermitted",
                format!("The network interface '{}' at device index 0 cannot be detached.", interface.id),
            ));
        }
        let id = interface.id.clone();
        if let Some(instance) = interface.attachment.as_ref().map(|attachment| attachment.instance_id.clone())
        {
            interfaces::set_state(call, &id, AttachmentState::Detaching)?;
            call.order(Order::DetachInterface(id, instance));
        }
        Done::ok()
    }
}
