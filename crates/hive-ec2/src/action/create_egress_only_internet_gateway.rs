//! Gives a VPC a way out for IPv6.

use super::describe_egress_only_internet_gateways::{EgressOnlyView, view};
use super::prelude::*;
use crate::model::egress_only_internet_gateway::EgressOnlyInternetGateway;

pub struct CreateEgressOnlyInternetGateway;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    egress_only_internet_gateway: EgressOnlyView,
    client_token: Option<String>,
}

impl Action for CreateEgressOnlyInternetGateway {
    const NAME: &'static str = "CreateEgressOnlyInternetGateway";
    const ACCEPTS: Accepts =
        Accepts { client_token: true, tags: &["egress-only-internet-gateway"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let vpc_id = call.account.vpcs.find(&request.vpc_id)?.id.clone();
        let gateway = EgressOnlyInternetGateway {
            id: call.new_id(),
            vpc_id,
            tags: call.new_tags::<EgressOnlyInternetGateway>(),
        };
        let view = view(&gateway);
        call.account.egress_only_internet_gateways.insert(gateway);
        Ok(Response { egress_only_internet_gateway: view, client_token: call.common.client_token.clone() })
    }
}
