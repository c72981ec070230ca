//! Takes endpoints away; those that cannot be are named, the others go.

use super::prelude::*;
use crate::core::table::Resource;
use crate::model::vpc_endpoint::{EndpointState, VpcEndpoint};
use crate::node::Order;

pub struct DeleteVpcEndpoints;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_endpoint_id: Vec<String>,
}

#[derive(Serialize)]
pub struct Response {
    unsuccessful: Vec<Unsuccessful>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Unsuccessful {
    error: ErrorView,
    resource_id: String,
}

#[derive(Serialize)]
struct ErrorView {
    code: &'static str,
    message: String,
}

impl Action for DeleteVpcEndpoints {
    const NAME: &'static str = "DeleteVpcEndpoints";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut unsuccessful = Vec::new();
        for resource_id in request.vpc_endpoint_id {
            let Some(endpoint) = call.account.vpc_endpoints.get(&resource_id) else {
                // Not the code of the Describe, and the provider looks for this one.
                let error = VpcEndpoint::KIND.not_found(&resource_id);
                let code = "InvalidVpcEndpoint.NotFound";
                let error = ErrorView { code, message: error.message };
                unsuccessful.push(Unsuccessful { error, resource_id });
                continue;
            };
            let id = endpoint.id.clone();
            if endpoint.state != EndpointState::Deleting {
                call.account.vpc_endpoints.edit(&id)?.state = EndpointState::Deleting;
                call.order(Order::DeleteEndpoint(id));
            }
        }
        Ok(Response { unsuccessful })
    }
}
