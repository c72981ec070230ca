//! Lists route tables.

use super::prelude::*;
use crate::model::network_interface::NetworkInterface;
use crate::model::route_table::RouteTable;
use crate::model::vpc_endpoint::VpcEndpoint;
use crate::rules::routes::{EndpointRoute, endpoint_routes, state};
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
            let own = table.routes.iter().map(|route| state(account, table, route));
            own.chain(endpoint_routes(account, table).map(|route| route.state())).map(str::to_owned).collect()
        }),
    ),
])
.shown("DescribeRouteTables", |table, call| shown(view::route_table::route_table(table, call.account)))
.narrowed(|call, name, pattern| match name {
    "route.destination-prefix-list-id" => with_endpoints(call, None),
    "route.gateway-id" => {
        let own = RouteTable::BY_GATEWAY.found(pattern)?;
        Some(own.or(with_endpoints(call, call.account.vpc_endpoints.keys_like(pattern))?))
    }
    "route.origin" => {
        let own = RouteTable::BY_ORIGIN.found(pattern)?;
        let theirs = matches(pattern, &EndpointRoute::ORIGIN.to_string());
        Some(own.or(if theirs { with_endpoints(call, None)? } else { Found::nothing() }))
    }
    "route.instance-id" => {
        let interfaces = NetworkInterface::BY_INSTANCE.found(pattern)?;
        call.found_from(&call.account.network_interfaces, interfaces, |interface| {
            RouteTable::BY_INTERFACE.found(&interface.id).unwrap_or_default()
        })
    }
    _ => None,
});

/// The tables with a route to a gateway endpoint, of all or of those that stand where it is said.
fn with_endpoints(call: &Call<'_>, endpoints: Option<Found>) -> Option<Found> {
    let endpoints = endpoints.unwrap_or_else(|| VpcEndpoint::BY_ROUTE_TABLE.all());
    call.found_from(&call.account.vpc_endpoints, endpoints, |endpoint| {
        Found::keys(endpoint.route_table_ids.iter().map(ToString::to_string))
    })
}

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
