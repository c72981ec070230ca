//! Takes the IPv6 block from a subnet.

use super::associate_subnet_cidr_block::Response;
use super::prelude::*;
use crate::model::subnet::Subnet;
use crate::view;

pub struct DisassociateSubnetCidrBlock;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
}

impl Action for DisassociateSubnetCidrBlock {
    const NAME: &'static str = "DisassociateSubnetCidrBlock";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = &request.association_id;
        let missing = || {
            ApiError::client(
                "InvalidSubnetCidrBlockAssociationID.NotFound",
                format!("The association '{id}' does not exist"),
            )
        };
        let subnet = call.account.subnets.with(Subnet::BY_IPV6_ASSOCIATION, id).next();
        let subnet_id = subnet.ok_or_else(missing)?.id.clone();
        let subnet = call.account.subnets.edit(&subnet_id)?;
        subnet.assign_ipv6_address_on_creation = false;
        let association = subnet.ipv6_cidr.take().ok_or_else(missing)?;
        Ok(Response {
            subnet_id: subnet_id.to_string(),
            ipv6_cidr_block_association: view::subnet::ipv6(&association, "disassociating"),
        })
    }
}
