//! One switch of a VPC.

use super::prelude::*;
use crate::view::AttributeValue;

pub struct DescribeVpcAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
    attribute: Attribute,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_id: String,
    enable_dns_support: Option<AttributeValue<bool>>,
    enable_dns_hostnames: Option<AttributeValue<bool>>,
    enable_network_address_usage_metrics: Option<AttributeValue<bool>>,
}

impl Action for DescribeVpcAttribute {
    const NAME: &'static str = "DescribeVpcAttribute";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let vpc = call.account.vpcs.find(&request.vpc_id)?;
        let only = |attribute, value| (request.attribute == attribute).then_some(AttributeValue { value });
        Ok(Response {
            vpc_id: vpc.id.to_string(),
            enable_dns_support: only(Attribute::DnsSupport, vpc.enable_dns_support),
            enable_dns_hostnames: only(Attribute::DnsHostnames, vpc.enable_dns_hostnames),
            enable_network_address_usage_metrics: only(
                Attribute::NetworkAddressUsageMetrics,
                vpc.enable_network_address_usage_metrics,
            ),
        })
    }
}

#[derive(Deserialize, PartialEq)]
enum Attribute {
    #[serde(rename = "enableDnsSupport")]
    DnsSupport,
    #[serde(rename = "enableDnsHostnames")]
    DnsHostnames,
    #[serde(rename = "enableNetworkAddressUsageMetrics")]
    NetworkAddressUsageMetrics,
}
