//! Lists route tables.

use super::prelude::*;
use crate::model::network_interface::NetworkInterface;
use crate::model::route_table::RouteTable;
use crate::model::vpc_endpoint::VpcEndpoint;
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
.shown("DescribeRouteTables", |table, call| shown(view::route_table::route_table(table, call.account)))
.narrowed(|call, name, pattern| match name {
    "route.destination-prefix-list-id" => {
        let endpoints = &call.account.vpc_endpoints;
        call.found_from(endpoints, VpcEndpoint::BY_ROUTE_TABLE.all(), |endpoint| {
            Found::keys(endpoint.route_table_ids.iter().map(ToString::to_string))
        })
    }
    "route.instance-id" => {
        let interfaces = NetworkInterface::BY_INSTANCE.found(pattern)?;
        call.found_from(&call.account.network_interfaces, interfaces, |interface| {
            RouteTable::BY_INTERFACE.found(&interface.id).unwrap_or_default()
        })
    }
    _ => None,
});

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
