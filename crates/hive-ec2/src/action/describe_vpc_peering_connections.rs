//! Lists VPC peering connections; ended ones for an hour.

use super::prelude::*;
use crate::model::vpc_peering_connection::VpcPeeringConnection;
use crate::rules::lifecycle::is_forgotten;
use crate::view::vpc_peering_connection::{VpcPeeringConnectionView, vpc_peering_connection};

pub struct DescribeVpcPeeringConnections;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    vpc_peering_connection_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_peering_connection_set: Vec<VpcPeeringConnectionView>,
    next_token: Option<String>,
}

static FILTERS: &[FilterRow<VpcPeeringConnection>] = &[
    ("accepter-vpc-info.cidr-block", |p, _| one(&p.accepter.cidr_block)),
    ("accepter-vpc-info.owner-id", |_, account| one(&account.id)),
    ("accepter-vpc-info.vpc-id", |p, _| one(&p.accepter.vpc_id)),
    ("requester-vpc-info.cidr-block", |p, _| one(&p.requester.cidr_block)),
    ("requester-vpc-info.owner-id", |_, account| one(&account.id)),
    ("requester-vpc-info.vpc-id", |p, _| one(&p.requester.vpc_id)),
    ("status-code", |p, _| one(p.state.name())),
    ("status-message", |p, _| one(p.state.message())),
    ("vpc-peering-connection-id", |p, _| one(&p.id)),
];

impl Action for DescribeVpcPeeringConnections {
    const NAME: &'static str = "DescribeVpcPeeringConnections";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let visible = |p: &VpcPeeringConnection| !is_forgotten(call.now, p.ended);
        let all = &call.account.vpc_peering_connections;
        let page = call.select_where(all, &request.vpc_peering_connection_id, FILTERS, visible)?;
        Ok(Response {
            vpc_peering_connection_set: page.items.iter().map(|p| vpc_peering_connection(p, call)).collect(),
            next_token: page.next_token,
        })
    }
}
