//! Takes the way out for IPv6 away; routes to it become blackholes.

use super::prelude::*;

pub struct DeleteEgressOnlyInternetGateway;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    egress_only_internet_gateway_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    return_code: bool,
}

impl Action for DeleteEgressOnlyInternetGateway {
    const NAME: &'static str = "DeleteEgressOnlyInternetGateway";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = &request.egress_only_internet_gateway_id;
        call.account.egress_only_internet_gateways.find(id)?;
        call.account.egress_only_internet_gateways.remove(id);
        Ok(Response { return_code: true })
    }
}
