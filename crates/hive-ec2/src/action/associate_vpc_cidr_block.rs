//! Adds an address block to a VPC.

use super::prelude::*;
use crate::model::cidr::Ipv4Cidr;
use crate::rules::vpcs;
use crate::view;
use crate::view::vpc::{CidrView, Ipv6CidrView};

pub struct AssociateVpcCidrBlock;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
    cidr_block: Option<String>,
    #[serde(default)]
    amazon_provided_ipv6_cidr_block: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_id: String,
    cidr_block_association: Option<CidrView>,
    ipv6_cidr_block_association: Option<Ipv6CidrView>,
}

impl Action for AssociateVpcCidrBlock {
    const NAME: &'static str = "AssociateVpcCidrBlock";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let vpc = call.account.vpcs.find(&request.vpc_id)?;
        let vpc_id = vpc.id.clone();
        match (request.cidr_block, request.amazon_provided_ipv6_cidr_block) {
            (Some(cidr), false) => {
                let cidr = Ipv4Cidr::parameter("cidrBlock", &cidr)?;
                let association = vpcs::add_cidr(call, &vpc_id, cidr)?;
                Ok(Response {
                    vpc_id: vpc_id.to_string(),
                    cidr_block_association: Some(view::vpc::cidr(&association, "associating")),
                    ipv6_cidr_block_association: None,
                })
            }
            (None, true) if vpc.ipv6_cidrs.is_empty() => {
                let cidr = vpcs::provided_ipv6(call);
                let association = vpcs::add_ipv6_cidr(call, &vpc_id, cidr)?;
                Ok(Response {
                    vpc_id: vpc_id.to_string(),
                    cidr_block_association: None,
                    ipv6_cidr_block_association: Some(view::vpc::ipv6_cidr(&association, "associating")),
                })
            }
            (None, true) => {
                Err(ApiError::client("CidrLimitExceeded", "This VPC has an IPv6 CIDR block already"))
            }
            _ => Err(ApiError::invalid_combination(
                "Either CidrBlock or AmazonProvidedIpv6CidrBlock must be given",
            )),
        }
    }
}
