//! Lists subnets.

use super::prelude::*;
use crate::model::subnet::Subnet;
use crate::rules::vpcs::available_addresses;
use crate::view;
use crate::view::subnet::SubnetView;

pub struct DescribeSubnets;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    subnet_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    subnet_set: Vec<SubnetView>,
    next_token: Option<String>,
}

static FILTERS: Filters<Subnet> = Filters::of(&[
    ("available-ip-address-count", Of(|subnet, account| one(available_addresses(account, subnet)))),
    ("owner-id", Same(|account| account.id.to_string())),
    ("state", Same(|_| "available".to_owned())),
]);

impl Action for DescribeSubnets {
    const NAME: &'static str = "DescribeSubnets";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.subnets, &request.subnet_id, &FILTERS)?;
        Ok(Response {
            subnet_set: page.items.iter().map(|subnet| view::subnet::subnet(subnet, call)).collect(),
            next_token: page.next_token,
        })
    }
}
