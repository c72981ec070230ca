//! Asks to connect two VPCs of the account.

use super::prelude::*;
use crate::rules::peering;
use crate::view::vpc_peering_connection::{VpcPeeringConnectionView, vpc_peering_connection};

pub struct CreateVpcPeeringConnection;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
    peer_vpc_id: String,
    peer_owner_id: Option<String>,
    peer_region: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_peering_connection: VpcPeeringConnectionView,
}

impl Action for CreateVpcPeeringConnection {
    const NAME: &'static str = "CreateVpcPeeringConnection";
    const ACCEPTS: Accepts = Accepts { tags: &["vpc-peering-connection"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let elsewhere = |given: Option<&String>, own: &str| given.is_some_and(|given| given != own);
        if elsewhere(request.peer_owner_id.as_ref(), &call.account.id) {
            return Err(ApiError::client(
                "OperationNotPermitted",
                "Accounts are apart here: both VPCs must be of the account that asks",
            ));
        }
        if elsewhere(request.peer_region.as_ref(), &call.environment.region) {
            return Err(ApiError::client("OperationNotPermitted", "This endpoint has one region only"));
        }
        let id = peering::create(call, &request.vpc_id, &request.peer_vpc_id)?;
        let connection = call.account.vpc_peering_connections.find(&id)?;
        Ok(Response { vpc_peering_connection: vpc_peering_connection(connection, call) })
    }
}
