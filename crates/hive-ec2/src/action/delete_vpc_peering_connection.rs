//! Ends the connection of two VPCs, or takes the request for one back.

use super::prelude::*;
use crate::model::vpc_peering_connection::PeeringState;
use crate::rules::peering;

pub struct DeleteVpcPeeringConnection;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_peering_connection_id: String,
}

impl Action for DeleteVpcPeeringConnection {
    const NAME: &'static str = "DeleteVpcPeeringConnection";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = &request.vpc_peering_connection_id;
        peering::advance(
            call,
            id,
            &[PeeringState::PendingAcceptance, PeeringState::Active],
            PeeringState::Deleting,
        )?;
        Done::ok()
    }
}
