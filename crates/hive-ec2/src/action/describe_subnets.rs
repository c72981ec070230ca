//! Lists subnets.

use super::prelude::*;
use crate::core::environment::zone_id;
use crate::core::filter::FilterRow;
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

static FILTERS: Filters<Subnet> = Filters::of(&[
    ("availability-zone-id", ZONE_ID),
    ("availabilityZoneId", ZONE_ID),
    ("available-ip-address-count", Of(|subnet, account| one(available_addresses(account, subnet)))),
    ("owner-id", Same(|account| account.id.to_string())),
    ("state", Same(|_| "available".to_owned())),
])
.shown("DescribeSubnets", |subnet, call| shown(view::subnet::subnet(subnet, call)))
.narrowed(|call, name, pattern| match name {
    "subnet-arn" => call.found_by_arn("subnet", pattern, |id| call.account.subnets.keys_like(id)),
    _ => None,
});

const ZONE_ID: FilterRow<Subnet> = Through(
    |subnet, _| one(zone_id(&subnet.availability_zone)),
    |call, pattern| call.found_in_zone(Subnet::BY_ZONE, pattern),
);

impl Action for DescribeSubnets {
    const NAME: &'static str = "DescribeSubnets";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<SubnetView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<SubnetView>> {
        let page = call.select(&call.account.subnets, &request.subnet_id, &FILTERS)?;
        Ok(page.listing("subnetSet", |subnet| view::subnet::subnet(subnet, call)))
    }
}
