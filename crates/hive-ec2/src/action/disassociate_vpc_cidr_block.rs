//! Takes an added address block from a VPC, if no subnet is in it.

use super::prelude::*;
use crate::model::route_table::{Destination, Route, Target};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules::{dependents, vpcs};
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
        let id = &request.association_id;
        let has =
            |vpc: &&Vpc| vpc.cidrs.iter().any(|a| a.id == *id) || vpc.ipv6_cidrs.iter().any(|a| a.id == *id);
        let vpc = call.account.vpcs.iter().find(has).ok_or_else(|| {
            ApiError::client(
                "InvalidVpcCidrBlockAssociationID.NotFound",
                format!("The association '{id}' does not exist"),
            )
        })?;
        let vpc_id = vpc.id.clone();
        let v4 = vpc.cidrs.iter().find(|a| a.id == *id).cloned();
        let v6 = vpc.ipv6_cidrs.iter().find(|a| a.id == *id).cloned();
        if vpc.cidrs.first().is_some_and(|primary| primary.id == *id) {
            return Err(ApiError::client(
                "OperationNotPermitted",
                "The primary CIDR block of a VPC cannot be taken away",
            ));
        }
        let inside = call.account.subnets.with(Subnet::BY_VPC, &vpc_id).filter(|subnet| {
            v4.as_ref().is_some_and(|block| block.cidr.contains_block(subnet.cidr_block))
                || v6
                    .as_ref()
                    .zip(subnet.ipv6_cidr.as_ref())
                    .is_some_and(|(b, s)| b.cidr.contains_block(s.cidr))
        });
        dependents::refuse("CIDR block", id, inside.map(|subnet| subnet.id.to_string()).collect())?;
        let gone = |route: &Route| match route.destination {
            Destination::V4(cidr) => v4.as_ref().is_some_and(|block| block.cidr == cidr),
            Destination::V6(cidr) => v6.as_ref().is_some_and(|block| block.cidr == cidr),
        };
        vpcs::each_table(call.account, &vpc_id, |table| {
            table.routes.retain(|route| route.target != Target::Local || !gone(route));
        })?;
        let vpc = call.account.vpcs.edit(&vpc_id)?;
        vpc.cidrs.retain(|a| a.id != *id);
        vpc.ipv6_cidrs.retain(|a| a.id != *id);
        Ok(Response {
            vpc_id: vpc_id.to_string(),
            cidr_block_association: v4.map(|a| view::vpc::cidr(&a, "disassociating")),
            ipv6_cidr_block_association: v6.map(|a| view::vpc::ipv6_cidr(&a, "disassociating")),
        })
    }
}
