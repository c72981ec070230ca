//! Takes a route from a table; local routes stay.

use super::prelude::*;
use crate::model::route_table::Origin;
use crate::rules::routes;

pub struct DeleteRoute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    route_table_id: String,
    destination_cidr_block: Option<String>,
    destination_ipv6_cidr_block: Option<String>,
}

impl Action for DeleteRoute {
    const NAME: &'static str = "DeleteRoute";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let destination = routes::destination(
            request.destination_cidr_block.as_deref(),
            request.destination_ipv6_cidr_block.as_deref(),
        )?;
        let table = call.account.route_tables.edit(&request.route_table_id)?;
        let at = table.routes.iter().position(|route| route.destination == destination);
        let at = at.ok_or_else(|| routes::not_found(&request.route_table_id, destination))?;
        if table.routes[at].origin == Origin::CreateRouteTable {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("cannot remove local route {destination} in route table {}", table.id),
            ));
        }
        table.routes.remove(at);
        Done::ok()
    }
}
