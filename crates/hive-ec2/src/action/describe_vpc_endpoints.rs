//! Lists VPC endpoints.

use super::prelude::*;
use crate::model::vpc_endpoint::VpcEndpoint;
use crate::view::vpc_endpoint::{VpcEndpointView, vpc_endpoint};

pub struct DescribeVpcEndpoints;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    vpc_endpoint_id: Vec<String>,
}

static FILTERS: Filters<VpcEndpoint> = Filters::of(&[("ip-address-type", Same(|_| "ipv4".to_owned()))]);

impl Action for DescribeVpcEndpoints {
    const NAME: &'static str = "DescribeVpcEndpoints";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<VpcEndpointView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<VpcEndpointView>> {
        let page = call.select(&call.account.vpc_endpoints, &request.vpc_endpoint_id, &FILTERS)?;
        Ok(page.listing("vpcEndpointSet", |endpoint| vpc_endpoint(endpoint, call)))
    }
}
