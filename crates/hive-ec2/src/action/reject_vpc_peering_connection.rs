//! Declines to connect two VPCs.

use super::prelude::*;
use crate::model::vpc_peering_connection::PeeringState;
use crate::rules::peering;

pub struct RejectVpcPeeringConnection;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_peering_connection_id: String,
}

impl Action for RejectVpcPeeringConnection {
    const NAME: &'static str = "RejectVpcPeeringConnection";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = &request.vpc_peering_connection_id;
        peering::advance(call, id, &[PeeringState::PendingAcceptance], PeeringState::Rejected)?;
        Done::ok()
    }
}
