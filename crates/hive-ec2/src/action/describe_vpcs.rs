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

static FILTERS: &[FilterRow<Vpc>] = &[
    ("cidr", |vpc, _| maybe(vpc.cidr_block())),
    ("cidr-block", |vpc, _| maybe(vpc.cidr_block())),
    ("cidr-block-association.association-id", |vpc, _| vpc.cidrs.iter().map(|a| a.id.clone()).collect()),
    ("cidr-block-association.cidr-block", |vpc, _| vpc.cidrs.iter().map(|a| a.cidr.to_string()).collect()),
    ("cidr-block-association.state", |_, _| one("associated")),
    ("dhcp-options-id", |vpc, _| maybe(vpc.dhcp_options_id.as_ref())),
    ("ipv6-cidr-block-association.association-id", |vpc, _| {
        vpc.ipv6_cidrs.iter().map(|a| a.id.clone()).collect()
    }),
    ("ipv6-cidr-block-association.ipv6-cidr-block", |vpc, _| {
        vpc.ipv6_cidrs.iter().map(|a| a.cidr.to_string()).collect()
    }),
    ("is-default", |vpc, _| one(vpc.is_default)),
    ("isDefault", |vpc, _| one(vpc.is_default)),
    ("owner-id", |_, account| one(&account.id)),
    ("state", |_, _| one("available")),
    ("vpc-id", |vpc, _| one(&vpc.id)),
];

impl Action for DescribeVpcs {
    const NAME: &'static str = "DescribeVpcs";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.vpcs, &request.vpc_id, FILTERS)?;
        Ok(Response {
            vpc_set: page.items.iter().map(|vpc| view::vpc::vpc(vpc, call.account)).collect(),
            next_token: page.next_token,
        })
    }
}
