//! Makes a VPC with its default group, main route table and default ACL.

use super::prelude::*;
use crate::model::cidr::Ipv4Cidr;
use crate::model::vpc::Tenancy;
use crate::rules::vpcs;
use crate::view;
use crate::view::vpc::VpcView;

pub struct CreateVpc;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    cidr_block: Option<String>,
    #[serde(default)]
    amazon_provided_ipv6_cidr_block: bool,
    instance_tenancy: Option<Tenancy>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc: VpcView,
}

impl Action for CreateVpc {
    const NAME: &'static str = "CreateVpc";
    const ACCEPTS: Accepts = Accepts { tags: &["vpc"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let cidr = request.cidr_block.ok_or_else(|| ApiError::missing_parameter("cidrBlock"))?;
        let cidr = Ipv4Cidr::parameter("cidrBlock", &cidr)?;
        let ipv6 = request.amazon_provided_ipv6_cidr_block.then(|| vpcs::provided_ipv6(call));
        let tenancy = request.instance_tenancy.unwrap_or(Tenancy::Default);
        if tenancy == Tenancy::Host {
            // EC2 has the value and does not take it here either.
            return Err(ApiError::invalid_value("InstanceTenancy", "host", "Valid: default, dedicated."));
        }
        let id = vpcs::create_vpc(call, cidr, ipv6, tenancy, false)?;
        Ok(Response { vpc: view::vpc::vpc(call.account.vpcs.find(&id)?, call.account) })
    }
}
