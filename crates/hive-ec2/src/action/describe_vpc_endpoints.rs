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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_endpoint_set: Vec<VpcEndpointView>,
    next_token: Option<String>,
}

static FILTERS: Filters<VpcEndpoint> = Filters::of(&[("ip-address-type", Same(|_| "ipv4".to_owned()))]);

impl Action for DescribeVpcEndpoints {
    const NAME: &'static str = "DescribeVpcEndpoints";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.vpc_endpoints, &request.vpc_endpoint_id, &FILTERS)?;
        Ok(Response {
            vpc_endpoint_set: page.items.iter().map(|endpoint| vpc_endpoint(endpoint, call)).collect(),
            next_token: page.next_token,
        })
    }
}
