//! Sets one switch of a VPC.

use super::prelude::*;

pub struct ModifyVpcAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
    enable_dns_support: Option<AttributeValue<bool>>,
    enable_dns_hostnames: Option<AttributeValue<bool>>,
    enable_network_address_usage_metrics: Option<AttributeValue<bool>>,
}

impl Action for ModifyVpcAttribute {
    const NAME: &'static str = "ModifyVpcAttribute";
    /// Kept and described: there are no metrics.
    const WITHOUT_EFFECT: &'static [&'static str] = &["EnableNetworkAddressUsageMetrics"];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let vpc = call.account.vpcs.edit(&request.vpc_id)?;
        let mut given = 0;
        for (slot, value) in [
            (&mut vpc.enable_dns_support, request.enable_dns_support),
            (&mut vpc.enable_dns_hostnames, request.enable_dns_hostnames),
            (&mut vpc.enable_network_address_usage_metrics, request.enable_network_address_usage_metrics),
        ] {
            if let Some(value) = value {
                *slot = value.value;
                given += 1;
            }
        }
        Done::one(given)
    }
}
