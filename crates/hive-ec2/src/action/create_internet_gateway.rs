//! Makes a gateway that is attached to nothing yet.

use super::describe_internet_gateways::{self, InternetGatewayView};
use super::prelude::*;
use crate::model::internet_gateway::InternetGateway;

pub struct CreateInternetGateway;

#[derive(Deserialize)]
pub struct Request {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    internet_gateway: InternetGatewayView,
}

impl Action for CreateInternetGateway {
    const NAME: &'static str = "CreateInternetGateway";
    const ACCEPTS: Accepts = Accepts { tags: &["internet-gateway"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(_request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let gateway =
            InternetGateway { id: call.new_id(), vpc_id: None, tags: call.new_tags::<InternetGateway>() };
        let view = describe_internet_gateways::view(&gateway, call.account);
        call.account.internet_gateways.insert(gateway);
        Ok(Response { internet_gateway: view })
    }
}
