//! Changes what an endpoint consists of and who may use it.

use super::create_vpc_endpoint::{DnsOptions, check_addresses};
use super::prelude::*;
use crate::rules::endpoints::{self, FULL_ACCESS, Parts};

pub struct ModifyVpcEndpoint;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_endpoint_id: String,
    #[serde(default)]
    reset_policy: bool,
    policy_document: Option<String>,
    private_dns_enabled: Option<bool>,
    ip_address_type: Option<String>,
    dns_options: Option<DnsOptions>,
    #[serde(default)]
    add_route_table_id: Vec<String>,
    #[serde(default)]
    remove_route_table_id: Vec<String>,
    #[serde(default)]
    add_subnet_id: Vec<String>,
    #[serde(default)]
    remove_subnet_id: Vec<String>,
    #[serde(default)]
    add_security_group_id: Vec<String>,
    #[serde(default)]
    remove_security_group_id: Vec<String>,
}

impl Action for ModifyVpcEndpoint {
    const NAME: &'static str = "ModifyVpcEndpoint";
    const REFUSED_VALUES: &'static [&'static str] = &[
        "IpAddressType=dualstack",
        "IpAddressType=ipv6",
        "DnsOptions.DnsRecordIpType=dualstack",
        "DnsOptions.DnsRecordIpType=ipv6",
    ];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        check_addresses(request.ip_address_type.as_deref(), request.dns_options.as_ref())?;
        let id = &request.vpc_endpoint_id;
        let endpoint = call.account.vpc_endpoints.find(id)?;
        if let Some(enabled) = request.private_dns_enabled {
            endpoints::check_names(call.account.vpcs.find(&endpoint.vpc_id)?, endpoint.kind, enabled)?;
            call.account.vpc_endpoints.edit(id)?.private_dns_enabled = enabled;
        }
        let policy =
            if request.reset_policy { Some(FULL_ACCESS.to_owned()) } else { request.policy_document };
        if let Some(policy) = policy {
            endpoints::check_policy(&policy)?;
            call.account.vpc_endpoints.edit(id)?.policy_document = policy;
        }
        let added = Parts {
            route_tables: request.add_route_table_id,
            subnets: request.add_subnet_id,
            groups: request.add_security_group_id,
        };
        endpoints::add(call, id, &added)?;
        let removed = Parts {
            route_tables: request.remove_route_table_id,
            subnets: request.remove_subnet_id,
            groups: request.remove_security_group_id,
        };
        endpoints::remove(call, id, &removed)?;
        Done::ok()
    }
}
