//! Leads a route elsewhere.

use super::prelude::*;
use crate::rules::routes::{self, RouteRequest};

pub struct ReplaceRoute;

impl Action for ReplaceRoute {
    const NAME: &'static str = "ReplaceRoute";
    type Request = RouteRequest;
    type Response = Done;

    fn run(request: RouteRequest, call: &mut Call<'_>) -> ApiResult<Done> {
        let destination = request.destination()?;
        let target = request.target(call)?;
        let table = call.account.route_tables.edit(&request.route_table_id)?;
        let route = table.routes.iter_mut().find(|route| route.destination == destination);
        let route = route.ok_or_else(|| routes::not_found(&request.route_table_id, destination))?;
        route.target = target;
        Done::ok()
    }
}
