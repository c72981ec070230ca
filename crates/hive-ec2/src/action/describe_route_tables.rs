//! Lists route tables.

use super::prelude::*;
use crate::model::route_table::{AssociationTarget, Destination, RouteTable, Target};
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

static FILTERS: &[FilterRow<RouteTable>] = &[
    ("association.gateway-id", |table, _| gateways(table)),
    (
        "association.main",
        |table, _| if table.associations.is_empty() { Vec::new() } else { one(table.is_main()) },
    ),
    ("association.route-table-association-id", |table, _| {
        table.associations.iter().map(|a| a.id.clone()).collect()
    }),
    (
        "association.route-table-id",
        |table, _| if table.associations.is_empty() { Vec::new() } else { one(&table.id) },
    ),
    ("association.subnet-id", |table, _| subnets(table)),
    ("owner-id", |_, account| one(&account.id)),
    ("route-table-id", |table, _| one(&table.id)),
    ("route.destination-cidr-block", |table, _| destinations(table)),
    ("route.destination-ipv6-cidr-block", |table, _| destinations(table)),
    ("route.gateway-id", |table, _| targets(table)),
    ("route.nat-gateway-id", |table, _| {
        let routes = table.routes.iter();
        routes
            .filter_map(
                |route| if let Target::NatGateway(id) = &route.target { Some(id.to_string()) } else { None },
            )
            .collect()
    }),
    ("route.origin", |table, _| table.routes.iter().map(|route| format!("{:?}", route.origin)).collect()),
    ("route.state", |table, account| {
        table
            .routes
            .iter()
            .map(|route| {
                if is_blackhole(account, table, route) { "blackhole".to_owned() } else { "active".to_owned() }
            })
            .collect()
    }),
    ("vpc-id", |table, _| one(&table.vpc_id)),
];

impl Action for DescribeRouteTables {
    const NAME: &'static str = "DescribeRouteTables";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.route_tables, &request.route_table_id, FILTERS)?;
        let tables = page.items.iter().map(|table| view::route_table::route_table(table, call.account));
        Ok(Response { route_table_set: tables.collect(), next_token: page.next_token })
    }
}

fn subnets(table: &RouteTable) -> Vec<String> {
    let associations = table.associations.iter();
    associations
        .filter_map(|association| match &association.target {
            AssociationTarget::Subnet(id) => Some(id.to_string()),
            _ => None,
        })
        .collect()
}

fn gateways(table: &RouteTable) -> Vec<String> {
    let associations = table.associations.iter();
    associations
        .filter_map(|association| match &association.target {
            AssociationTarget::InternetGateway(id) => Some(id.to_string()),
            _ => None,
        })
        .collect()
}

fn destinations(table: &RouteTable) -> Vec<String> {
    let routes = table.routes.iter();
    routes
        .map(|route| match route.destination {
            Destination::V4(cidr) => cidr.to_string(),
            Destination::V6(cidr) => cidr.to_string(),
        })
        .collect()
}

fn targets(table: &RouteTable) -> Vec<String> {
    let routes = table.routes.iter();
    routes
        .filter_map(|route| match &route.target {
            Target::Local => Some("local".to_owned()),
            Target::InternetGateway(id) => Some(id.to_string()),
            _ => None,
        })
        .collect()
}
