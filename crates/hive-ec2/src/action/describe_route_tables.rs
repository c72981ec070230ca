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

static FILTERS: Filters<RouteTable> = Filters::<RouteTable>::of(&[
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
])
.shown("DescribeRouteTables", |table, call| shown(view::route_table::route_table(table, call.account)));

impl Action for DescribeRouteTables {
    const NAME: &'static str = "DescribeRouteTables";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<RouteTableView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<RouteTableView>> {
        let page = call.select(&call.account.route_tables, &request.route_table_id, &FILTERS)?;
        Ok(page.listing("routeTableSet", |table| view::route_table::route_table(table, call.account)))
    }
}
