//! Plugs an interface into an instance.

use super::prelude::*;
use crate::core::id::Id;
use crate::model::volume::AttachmentState;
use crate::node::Order;
use crate::rules::interfaces;

pub struct AttachNetworkInterface;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_interface_id: String,
    instance_id: String,
    device_index: u32,
    network_card_index: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    attachment_id: String,
    network_card_index: u32,
}

impl Action for AttachNetworkInterface {
    const NAME: &'static str = "AttachNetworkInterface";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        if let Some(card) = request.network_card_index.filter(|card| *card != 0) {
            return Err(ApiError::invalid_value(
                "NetworkCardIndex",
                &card.to_string(),
                "Instances have one network card.",
            ));
        }
        let id = interfaces::attach(
            call,
            &request.network_interface_id,
            &request.instance_id,
            request.device_index,
            false,
        )?;
        interfaces::set_state(call, &request.network_interface_id, AttachmentState::Attaching)?;
        call.order(Order::AttachInterface(
            Id::new(request.network_interface_id.as_str()),
            Id::new(request.instance_id.as_str()),
        ));
        Ok(Response { attachment_id: id, network_card_index: 0 })
    }
}
