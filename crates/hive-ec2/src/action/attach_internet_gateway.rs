//! Gives a VPC its way out; it has one at most.

use super::prelude::*;
use crate::model::internet_gateway::InternetGateway;

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
        let id = &request.internet_gateway_id;
        let vpc = call.account.vpcs.find(&request.vpc_id)?.id.clone();
        let gateway = call.account.internet_gateways.find(id)?;
        if let Some(other) = &gateway.vpc_id {
            return Err(ApiError::client(
                "Resource.AlreadyAssociated",
                format!("resource {id} is already attached to network {other}"),
            ));
        }
        if call.account.internet_gateways.with(InternetGateway::BY_VPC, &vpc).next().is_some() {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("Network {vpc} already has an internet gateway attached"),
            ));
        }
        call.account.internet_gateways.edit(id)?.vpc_id = Some(vpc);
        Done::ok()
    }
}
