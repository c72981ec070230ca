//! Takes a NAT gateway away; its address becomes free.

use super::prelude::*;
use crate::model::nat_gateway::NatGatewayState;
use crate::node::Order;

pub struct DeleteNatGateway;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    nat_gateway_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    nat_gateway_id: String,
}

impl Action for DeleteNatGateway {
    const NAME: &'static str = "DeleteNatGateway";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let gateway = call.account.nat_gateways.find(&request.nat_gateway_id)?;
        let id = gateway.id.clone();
        if matches!(gateway.state, NatGatewayState::Pending | NatGatewayState::Available) {
            call.account.nat_gateways.edit(&id)?.state = NatGatewayState::Deleting;
            call.order(Order::DeleteNatGateway(id.clone()));
        } else if gateway.state == NatGatewayState::Failed {
            // It has nothing any more.
            call.account.nat_gateways.edit(&id)?.state = NatGatewayState::Deleted;
        }
        Ok(Response { nat_gateway_id: id.to_string() })
    }
}
