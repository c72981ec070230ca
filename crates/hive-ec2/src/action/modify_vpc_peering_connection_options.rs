//! Sets whether one side of a connection resolves the other's names.

use super::prelude::*;
use crate::model::vpc_peering_connection::{PeeringSide, PeeringState};
use crate::view::vpc_peering_connection::{OptionsView, options};

pub struct ModifyVpcPeeringConnectionOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_peering_connection_id: String,
    accepter_peering_connection_options: Option<Options>,
    requester_peering_connection_options: Option<Options>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Options {
    allow_dns_resolution_from_remote_vpc: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    accepter_peering_connection_options: Option<OptionsView>,
    requester_peering_connection_options: Option<OptionsView>,
}

impl Action for ModifyVpcPeeringConnectionOptions {
    const NAME: &'static str = "ModifyVpcPeeringConnectionOptions";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = &request.vpc_peering_connection_id;
        if call.account.vpc_peering_connections.find(id)?.state != PeeringState::Active {
            return Err(ApiError::client("OperationNotPermitted", format!("{id} is not active")));
        }
        let connection = call.account.vpc_peering_connections.edit(id)?;
        let set = |side: &mut PeeringSide, asked: Option<Options>| {
            let allowed = asked?.allow_dns_resolution_from_remote_vpc;
            side.allow_dns_resolution = allowed.unwrap_or(side.allow_dns_resolution);
            Some(options(side))
        };
        Ok(Response {
            accepter_peering_connection_options: set(
                &mut connection.accepter,
                request.accepter_peering_connection_options,
            ),
            requester_peering_connection_options: set(
                &mut connection.requester,
                request.requester_peering_connection_options,
            ),
        })
    }
}
