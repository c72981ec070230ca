//! Takes an added address block from a VPC, if no subnet is in it.

use super::prelude::*;
use crate::rules::vpc_blocks;
use crate::view;
use crate::view::vpc::{CidrView, Ipv6CidrView};

pub struct DisassociateVpcCidrBlock;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_id: String,
    cidr_block_association: Option<CidrView>,
    ipv6_cidr_block_association: Option<Ipv6CidrView>,
}

impl Action for DisassociateVpcCidrBlock {
    const NAME: &'static str = "DisassociateVpcCidrBlock";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let removed = vpc_blocks::remove(call.account, &request.association_id)?;
        Ok(Response {
            vpc_id: removed.vpc.to_string(),
            cidr_block_association: removed.v4.map(|a| view::vpc::cidr(&a, "disassociating")),
            ipv6_cidr_block_association: removed.v6.map(|a| view::vpc::ipv6_cidr(&a, "disassociating")),
        })
    }
}
