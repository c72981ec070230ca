//! Makes a subnet or gateway follow a table.

use super::prelude::*;
use crate::rules::route_associations::{self, Follower};
use crate::view::route_table::AssociationState;

pub struct AssociateRouteTable;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    route_table_id: String,
    subnet_id: Option<String>,
    gateway_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    association_id: String,
    association_state: AssociationState,
}

impl Action for AssociateRouteTable {
    const NAME: &'static str = "AssociateRouteTable";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let follower = match (&request.subnet_id, &request.gateway_id) {
            (Some(id), None) => Follower::Subnet(id),
            (None, Some(id)) => Follower::Gateway(id),
            _ => return Err(ApiError::invalid_combination("Either SubnetId or GatewayId must be given")),
        };
        let association_id = route_associations::associate(call, &request.route_table_id, follower)?;
        Ok(Response { association_id, association_state: AssociationState { state: "associated" } })
    }
}
