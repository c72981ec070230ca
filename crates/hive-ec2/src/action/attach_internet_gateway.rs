//! Gives a VPC its way out; it has one at most.

use super::prelude::*;
use crate::rules::internet_gateways;

pub struct AttachInternetGateway;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    internet_gateway_id: String,
    vpc_id: String,
}

impl Action for AttachInternetGateway {
    const NAME: &'static str = "AttachInternetGateway";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        internet_gateways::attach(call.account, &request.internet_gateway_id, &request.vpc_id)?;
        Done::ok()
    }
}
