//! Takes the way out from a VPC in which nothing has a public address.

use super::prelude::*;
use crate::rules::internet_gateways;

pub struct DetachInternetGateway;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    internet_gateway_id: String,
    vpc_id: String,
}

impl Action for DetachInternetGateway {
    const NAME: &'static str = "DetachInternetGateway";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        internet_gateways::detach(call.account, &request.internet_gateway_id, &request.vpc_id)?;
        Done::ok()
    }
}
