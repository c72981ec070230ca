//! Adds a route to a table.

use super::prelude::*;
use crate::model::route_table::{Origin, Route};
use crate::rules::routes::RouteRequest;

pub struct CreateRoute;

impl Action for CreateRoute {
    const NAME: &'static str = "CreateRoute";
    const NOT_OURS: &'static [&'static str] = &["LocalTarget"];
    type Request = RouteRequest;
    type Response = Done;

    fn run(request: RouteRequest, call: &mut Call<'_>) -> ApiResult<Done> {
        let destination = request.destination()?;
        let already = || {
            let message = format!("The route identified by {destination} already exists.");
            ApiError::client("RouteAlreadyExists", message)
        };
        let table = call.account.route_tables.find(&request.route_table_id)?;
        let is_block =
            |route: &Route| route.destination == destination && route.origin == Origin::CreateRouteTable;
        // The way to a block of the VPC can be led elsewhere, and never made anew.
        if request.gateway_id.as_deref() != Some("local") && table.routes.iter().any(is_block) {
            return Err(already());
        }
        let target = request.target(call)?;
        let table = call.account.route_tables.edit(&request.route_table_id)?;
        if let Some(known) = table.routes.iter().find(|route| route.destination == destination) {
            return if known.target == target { Done::ok() } else { Err(already()) };
        }
        table.routes.push(Route { destination, target, origin: Origin::CreateRoute });
        Done::ok()
    }
}
