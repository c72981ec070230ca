//! Lists route tables.

use super::prelude::*;
use crate::model::route_table::RouteTable;
use crate::rules::routes::is_blackhole;
use crate::view;
use crate::view::route_table::RouteTableView;

pub struct DescribeRouteTables;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    route_table_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    route_table_set: Vec<RouteTableView>,
    next_token: Option<String>,
}

static FILTERS: Filters<RouteTable> = Filters::of(&[
    ("owner-id", Same(|account| account.id.to_string())),
    (
        "route.state",
        Of(|table, account| {
            table
                .routes
                .iter()
                .map(|route| {
                    if is_blackhole(account, table, route) {
                        "blackhole".to_owned()
                    } else {
                        "active".to_owned()
                    }
                })
                .collect()
        }),
    ),
]);

impl Action for DescribeRouteTables {
    const NAME: &'static str = "DescribeRouteTables";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.route_tables, &request.route_table_id, &FILTERS)?;
        let tables = page.items.iter().map(|table| view::route_table::route_table(table, call.account));
        Ok(Response { route_table_set: tables.collect(), next_token: page.next_token })
    }
}
