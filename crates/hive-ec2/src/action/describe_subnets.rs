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

static FILTERS: &[FilterRow<Subnet>] = &[
    ("availability-zone", |subnet, _| one(&subnet.availability_zone)),
    ("availabilityZone", |subnet, _| one(&subnet.availability_zone)),
    ("available-ip-address-count", |subnet, account| one(available_addresses(account, subnet))),
    ("cidr", |subnet, _| one(subnet.cidr_block)),
    ("cidr-block", |subnet, _| one(subnet.cidr_block)),
    ("cidrBlock", |subnet, _| one(subnet.cidr_block)),
    ("default-for-az", |subnet, _| one(subnet.default_for_az)),
    ("defaultForAz", |subnet, _| one(subnet.default_for_az)),
    ("ipv6-cidr-block-association.association-id", |subnet, _| {
        maybe(subnet.ipv6_cidr.as_ref().map(|a| &a.id))
    }),
    ("ipv6-cidr-block-association.ipv6-cidr-block", |subnet, _| {
        maybe(subnet.ipv6_cidr.as_ref().map(|a| a.cidr))
    }),
    ("map-public-ip-on-launch", |subnet, _| one(subnet.map_public_ip_on_launch)),
    ("owner-id", |_, account| one(&account.id)),
    ("state", |_, _| one("available")),
    ("subnet-id", |subnet, _| one(&subnet.id)),
    ("vpc-id", |subnet, _| one(&subnet.vpc_id)),
];

impl Action for DescribeSubnets {
    const NAME: &'static str = "DescribeSubnets";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.subnets, &request.subnet_id, FILTERS)?;
        Ok(Response {
            subnet_set: page.items.iter().map(|subnet| view::subnet::subnet(subnet, call)).collect(),
            next_token: page.next_token,
        })
    }
}
