//! Makes a route table with the local routes of its VPC.

use super::prelude::*;
use crate::model::route_table::RouteTable;
use crate::rules::vpcs;
use crate::view;
use crate::view::route_table::RouteTableView;

pub struct CreateRouteTable;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    route_table: RouteTableView,
    client_token: Option<String>,
}

impl Action for CreateRouteTable {
    const NAME: &'static str = "CreateRouteTable";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["route-table"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let tags = call.new_tags::<RouteTable>();
        let id = vpcs::create_route_table(call, &request.vpc_id, Vec::new(), tags)?;
        Ok(Response {
            route_table: view::route_table::route_table(call.account.route_tables.find(&id)?, call.account),
            client_token: call.common.client_token.clone(),
        })
    }
}
