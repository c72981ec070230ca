//! Moves an association to another table; it gets a new id. Also replaces the main table.

use super::prelude::*;
use crate::rules::route_associations;
use crate::view::route_table::AssociationState;

pub struct ReplaceRouteTableAssociation;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
    route_table_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    new_association_id: String,
    association_state: AssociationState,
}

impl Action for ReplaceRouteTableAssociation {
    const NAME: &'static str = "ReplaceRouteTableAssociation";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = route_associations::replace(call, &request.association_id, &request.route_table_id)?;
        Ok(Response { new_association_id: id, association_state: AssociationState { state: "associated" } })
    }
}
