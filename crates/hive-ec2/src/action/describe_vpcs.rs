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

static FILTERS: Filters<Vpc> = Filters::of(&[
    ("cidr-block-association.state", Same(|_| "associated".to_owned())),
    ("owner-id", Same(|account| account.id.to_string())),
    ("state", Same(|_| "available".to_owned())),
]);

impl Action for DescribeVpcs {
    const NAME: &'static str = "DescribeVpcs";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<VpcView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<VpcView>> {
        let page = call.select(&call.account.vpcs, &request.vpc_id, &FILTERS)?;
        Ok(page.listing("vpcSet", |vpc| view::vpc::vpc(vpc, call.account)))
    }
}
