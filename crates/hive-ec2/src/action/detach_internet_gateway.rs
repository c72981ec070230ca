//! Takes the way out from a VPC in which nothing has a public address.

use super::prelude::*;
use crate::rules::dependents;

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
        let id = &request.internet_gateway_id;
        let vpc = call.account.vpcs.find(&request.vpc_id)?.id.clone();
        if call.account.internet_gateways.find(id)?.vpc_id.as_ref() != Some(&vpc) {
            return Err(ApiError::client(
                "Gateway.NotAttached",
                format!("resource {id} is not attached to network {vpc}"),
            ));
        }
        if dependents::has_public_addresses(call.account, &vpc) {
            return Err(ApiError::client(
                "DependencyViolation",
                format!(
                    "Network {vpc} has some mapped public address(es). Please unmap those public address(es) before detaching the gateway."
                ),
            ));
        }
        call.account.internet_gateways.edit(id)?.vpc_id = None;
        Done::ok()
    }
}
