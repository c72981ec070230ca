//! Agrees to connect two VPCs.

use super::prelude::*;
use crate::model::vpc_peering_connection::PeeringState;
use crate::rules::peering;
use crate::view::vpc_peering_connection::{VpcPeeringConnectionView, vpc_peering_connection};

pub struct AcceptVpcPeeringConnection;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_peering_connection_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_peering_connection: VpcPeeringConnectionView,
}

impl Action for AcceptVpcPeeringConnection {
    const NAME: &'static str = "AcceptVpcPeeringConnection";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = &request.vpc_peering_connection_id;
        peering::advance(call, id, &[PeeringState::PendingAcceptance], PeeringState::Provisioning)?;
        let connection = call.account.vpc_peering_connections.find(id)?;
        Ok(Response { vpc_peering_connection: vpc_peering_connection(connection, call) })
    }
}
