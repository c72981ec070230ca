//! Lists VPC endpoints: nothing here can make one, so there are none.

use super::prelude::*;
use crate::core::table::Listed;

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
    vpc_endpoint_set: Vec<String>,
    next_token: Option<String>,
}

static FILTERS: &[FilterRow<Endpoint>] = &[
    ("service-name", |_, _| Vec::new()),
    ("vpc-endpoint-id", |_, _| Vec::new()),
    ("vpc-endpoint-state", |_, _| Vec::new()),
    ("vpc-endpoint-type", |_, _| Vec::new()),
    ("vpc-id", |_, _| Vec::new()),
];

impl Action for DescribeVpcEndpoints {
    const NAME: &'static str = "DescribeVpcEndpoints";
    const ACCEPTS: Accepts = Accepts { filters: true, pages: true, ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        if let Some(id) = request.vpc_endpoint_id.first() {
            return Err(ApiError::client(
                "InvalidVpcEndpointId.NotFound",
                format!("The Vpc Endpoint Id '{id}' does not exist"),
            ));
        }
        let page = call.select_from(std::iter::empty::<Box<Endpoint>>(), FILTERS)?;
        Ok(Response { vpc_endpoint_set: Vec::new(), next_token: page.next_token })
    }
}

/// Has no values.
enum Endpoint {}

impl Listed for Endpoint {
    fn key(&self) -> &str {
        ""
    }
}
