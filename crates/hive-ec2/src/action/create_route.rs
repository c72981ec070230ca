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
        let target = request.target(call)?;
        let table = call.account.route_tables.edit(&request.route_table_id)?;
        if let Some(known) = table.routes.iter().find(|route| route.destination == destination) {
            if known.target == target {
                return Done::ok();
            }
            return Err(ApiError::client(
                "RouteAlreadyExists",
                format!("The route identified by the destination already exists in {}", table.id),
            ));
        }
        table.routes.push(Route { destination, target, origin: Origin::CreateRoute });
        Done::ok()
    }
}
