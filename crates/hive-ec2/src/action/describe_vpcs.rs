//! Lists VPCs.

use super::prelude::*;
use crate::model::vpc::Vpc;
use crate::view;
use crate::view::vpc::VpcView;

pub struct DescribeVpcs;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    vpc_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_set: Vec<VpcView>,
    next_token: Option<String>,
}

static FILTERS: Filters<Vpc> = Filters::of(&[
    ("cidr-block-association.state", Same(|_| "associated".to_owned())),
    ("owner-id", Same(|account| account.id.to_string())),
    ("state", Same(|_| "available".to_owned())),
]);

impl Action for DescribeVpcs {
    const NAME: &'static str = "DescribeVpcs";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.vpcs, &request.vpc_id, &FILTERS)?;
        Ok(Response {
            vpc_set: page.items.iter().map(|vpc| view::vpc::vpc(vpc, call.account)).collect(),
            next_token: page.next_token,
        })
    }
}
