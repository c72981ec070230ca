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

static FILTERS: &[FilterRow<VpcEndpoint>] = &[
    ("ip-address-type", |_, _| one("ipv4")),
    ("service-name", |e, _| one(&e.service_name)),
    ("vpc-endpoint-id", |e, _| one(&e.id)),
    ("vpc-endpoint-state", |e, _| one(e.state.name())),
    ("vpc-endpoint-type", |e, _| one(e.kind.name())),
    ("vpc-id", |e, _| one(&e.vpc_id)),
];

impl Action for DescribeVpcEndpoints {
    const NAME: &'static str = "DescribeVpcEndpoints";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.vpc_endpoints, &request.vpc_endpoint_id, FILTERS)?;
        Ok(Response {
            vpc_endpoint_set: page.items.iter().map(|endpoint| vpc_endpoint(endpoint, call)).collect(),
            next_token: page.next_token,
        })
    }
}
