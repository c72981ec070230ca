//! Lists VPC peering connections; ended ones for a while.

use super::prelude::*;
use crate::model::vpc_peering_connection::VpcPeeringConnection;
use crate::view::vpc_peering_connection::{VpcPeeringConnectionView, vpc_peering_connection};

pub struct DescribeVpcPeeringConnections;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    vpc_peering_connection_id: Vec<String>,
}

static FILTERS: Filters<VpcPeeringConnection> = Filters::of(&[
    ("accepter-vpc-info.owner-id", Same(|account| account.id.to_string())),
    ("requester-vpc-info.owner-id", Same(|account| account.id.to_string())),
])
.shown("DescribeVpcPeeringConnections", |p, call| shown(vpc_peering_connection(p, call)));

impl Action for DescribeVpcPeeringConnections {
    const NAME: &'static str = "DescribeVpcPeeringConnections";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<VpcPeeringConnectionView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<VpcPeeringConnectionView>> {
        let visible = |p: &VpcPeeringConnection| !p.is_forgotten(call.now);
        let all = &call.account.vpc_peering_connections;
        let page = call.select_where(all, &request.vpc_peering_connection_id, &FILTERS, visible)?;
        Ok(page.listing("vpcPeeringConnectionSet", |p| vpc_peering_connection(p, call)))
    }
}
