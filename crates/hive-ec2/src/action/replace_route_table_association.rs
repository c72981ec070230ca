//! Moves an association to another table; it gets a new id. Also replaces the main table.

use super::disassociate_route_table::find;
use super::prelude::*;
use crate::model::route_table::RouteAssociation;
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
        let (old, association) = find(call.account, &request.association_id)?;
        let new = call.account.route_tables.find(&request.route_table_id)?;
        if old.vpc_id != new.vpc_id {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("route table {} belongs to a different network", new.id),
            ));
        }
        let (old, new, target) = (old.id.clone(), new.id.clone(), association.target.clone());
        call.account.route_tables.edit(&old)?.associations.retain(|a| a.id != request.association_id);
        let id = call.random_id("rtbassoc");
        call.account.route_tables.edit(&new)?.associations.push(RouteAssociation { id: id.clone(), target });
        Ok(Response { new_association_id: id, association_state: AssociationState { state: "associated" } })
    }
}
