//! Makes a way from a VPC to a service.

use super::prelude::*;
use crate::model::vpc_endpoint::EndpointKind;
use crate::rules::endpoints::{self, NewEndpoint, Parts};
use crate::view::vpc_endpoint::{VpcEndpointView, vpc_endpoint};

pub struct CreateVpcEndpoint;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
    service_name: String,
    vpc_endpoint_type: Option<EndpointKind>,
    policy_document: Option<String>,
    private_dns_enabled: Option<bool>,
    ip_address_type: Option<String>,
    dns_options: Option<DnsOptions>,
    #[serde(default)]
    route_table_id: Vec<String>,
    #[serde(default)]
    subnet_id: Vec<String>,
    #[serde(default)]
    security_group_id: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DnsOptions {
    pub dns_record_ip_type: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc_endpoint: VpcEndpointView,
    client_token: Option<String>,
}

impl Action for CreateVpcEndpoint {
    const NAME: &'static str = "CreateVpcEndpoint";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["vpc-endpoint"], ..Accepts::NONE };
    const REFUSED_VALUES: &'static [&'static str] = &[
        "IpAddressType=dualstack",
        "IpAddressType=ipv6",
        "DnsOptions.DnsRecordIpType=dualstack",
        "DnsOptions.DnsRecordIpType=ipv6",
    ];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        check_addresses(request.ip_address_type.as_deref(), request.dns_options.as_ref())?;
        let new = NewEndpoint {
            vpc: request.vpc_id,
            service: request.service_name,
            kind: request.vpc_endpoint_type.unwrap_or(EndpointKind::Gateway),
            policy: request.policy_document.filter(|policy| !policy.is_empty()),
            private_dns: request.private_dns_enabled,
            parts: Parts {
                route_tables: request.route_table_id,
                subnets: request.subnet_id,
                groups: request.security_group_id,
            },
        };
        let id = endpoints::create(call, new)?;
        let vpc_endpoint = vpc_endpoint(call.account.vpc_endpoints.find(&id)?, call);
        Ok(Response { vpc_endpoint, client_token: call.common.client_token.clone() })
    }
}

/// Endpoints speak IPv4 here; another wish is refused, not forgotten.
pub fn check_addresses(kind: Option<&str>, names: Option<&DnsOptions>) -> ApiResult<()> {
    if let Some(kind) = kind.filter(|kind| *kind != "ipv4") {
        return Err(ApiError::invalid_value("IpAddressType", kind, "Endpoints have IPv4 addresses here."));
    }
    let records = names.and_then(|names| names.dns_record_ip_type.as_deref());
    match records.filter(|kind| !["ipv4", "service-defined"].contains(kind)) {
        Some(kind) => {
            Err(ApiError::invalid_value("DnsRecordIpType", kind, "Endpoints have IPv4 addresses here."))
        }
        None => Ok(()),
    }
}
