//! Deletes a route table that no subnet follows; a main table goes with its VPC.

use super::prelude::*;
use crate::rules::{dependents, endpoints};

pub struct DeleteRouteTable;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    route_table_id: String,
}

impl Action for DeleteRouteTable {
    const NAME: &'static str = "DeleteRouteTable";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let table = call.account.route_tables.find(&request.route_table_id)?;
        let id = table.id.clone();
        let associations = table.associations.iter().map(|association| association.id.clone()).collect();
        dependents::refuse("routeTable", &request.route_table_id, associations)?;
        endpoints::forget_table(call.account, &id)?;
        call.account.route_tables.remove(&id);
        Done::ok()
    }
}
