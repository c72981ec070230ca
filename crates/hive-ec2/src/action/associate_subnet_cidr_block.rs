//! Gives a subnet an IPv6 block of its VPC.

use super::prelude::*;
use crate::model::cidr::Ipv6Cidr;
use crate::rules::vpcs;
use crate::view;
use crate::view::subnet::Ipv6View;

pub struct AssociateSubnetCidrBlock;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    subnet_id: String,
    ipv6_cidr_block: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    pub subnet_id: String,
    pub ipv6_cidr_block_association: Ipv6View,
}

impl Action for AssociateSubnetCidrBlock {
    const NAME: &'static str = "AssociateSubnetCidrBlock";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let cidr = Ipv6Cidr::parameter("ipv6CidrBlock", &request.ipv6_cidr_block)?;
        let association = vpcs::add_subnet_ipv6(call, &request.subnet_id, cidr)?;
        Ok(Response {
            subnet_id: request.subnet_id,
            ipv6_cidr_block_association: view::subnet::ipv6(&association, "associating"),
        })
    }
}
