//! Makes a subnet in a VPC.

use super::prelude::*;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::rules::vpcs::{self, NewSubnet};
use crate::view;
use crate::view::subnet::SubnetView;

pub struct CreateSubnet;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
    cidr_block: Option<String>,
    ipv6_cidr_block: Option<String>,
    availability_zone: Option<String>,
    availability_zone_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    subnet: SubnetView,
}

impl Action for CreateSubnet {
    const NAME: &'static str = "CreateSubnet";
    const ACCEPTS: Accepts = Accepts { tags: &["subnet"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let cidr = request.cidr_block.ok_or_else(|| ApiError::missing_parameter("cidrBlock"))?;
        let cidr = Ipv4Cidr::parameter("cidrBlock", &cidr)?;
        let ipv6 = request
            .ipv6_cidr_block
            .as_deref()
            .map(|c| Ipv6Cidr::parameter("ipv6CidrBlock", c))
            .transpose()?;
        let zone = call.environment.zone(request.availability_zone, request.availability_zone_id)?;
        let zone = zone.unwrap_or_else(|| call.environment.first_zone());
        let new = NewSubnet { cidr, ipv6, zone, default_for_az: false };
        let id = vpcs::create_subnet(call, &request.vpc_id, new)?;
        Ok(Response { subnet: view::subnet::subnet(call.account.subnets.find(&id)?, call) })
    }
}
