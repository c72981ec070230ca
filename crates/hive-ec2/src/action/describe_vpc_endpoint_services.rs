//! Lists the services that endpoints can be made for.

use super::prelude::*;
use crate::data::endpoint_services::{self, EndpointService};

pub struct DescribeVpcEndpointServices;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    service_name: Vec<String>,
    #[serde(default)]
    service_region: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    service_name_set: Vec<String>,
    service_detail_set: Vec<ServiceView>,
    next_token: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServiceView {
    service_name: String,
    service_id: String,
    service_type: Vec<TypeView>,
    service_region: String,
    availability_zone_set: Vec<String>,
    owner: &'static str,
    base_endpoint_dns_name_set: Vec<String>,
    private_dns_name: Option<String>,
    vpc_endpoint_policy_supported: bool,
    acceptance_required: bool,
    manages_vpc_endpoints: bool,
    tag_set: Vec<String>,
    supported_ip_address_type_set: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TypeView {
    service_type: &'static str,
}

static FILTERS: Filters<EndpointService> = Filters::of(&[
    ("owner", Same(|_| "amazon".to_owned())),
    ("service-name", Of(|service, _| one(&service.name))),
    ("service-type", Of(|service, _| one(service.kind.name()))),
]);

impl Action for DescribeVpcEndpointServices {
    const NAME: &'static str = "DescribeVpcEndpointServices";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let region = &call.environment.region;
        let all = endpoint_services::all(region);
        if let Some(unknown) = request.service_name.iter().find(|name| !all.iter().any(|s| s.name == **name))
        {
            return Err(ApiError::client(
                "InvalidServiceName",
                format!("The Vpc Endpoint Service '{unknown}' does not exist"),
            ));
        }
        let here = request.service_region.is_empty() || request.service_region.contains(region);
        let listed = all.into_iter().filter(|service| {
            here && (request.service_name.is_empty() || request.service_name.contains(&service.name))
        });
        let page = call.select_from(listed.map(Box::new), &FILTERS)?;
        let mut names: Vec<String> = page.items.iter().map(|service| service.name.clone()).collect();
        names.dedup();
        Ok(Response {
            service_name_set: names,
            service_detail_set: page.items.iter().map(|service| view(service, call)).collect(),
            next_token: page.next_token,
        })
    }
}

fn view(service: &EndpointService, call: &Call<'_>) -> ServiceView {
    let region = &call.environment.region;
    let host = format!("{}.{region}.amazonaws.com", service.short);
    let gateway = service.prefix_list.is_some();
    ServiceView {
        service_name: service.name.clone(),
        service_id: format!("vpce-svc-{}", &hive_api::hex(service.name.as_bytes())[..17]),
        service_type: vec![TypeView { service_type: service.kind.name() }],
        service_region: region.clone(),
        availability_zone_set: call.environment.zone_names().collect(),
        owner: "amazon",
        private_dns_name: (!gateway).then(|| host.clone()),
        base_endpoint_dns_name_set: vec![host],
        vpc_endpoint_policy_supported: true,
        acceptance_required: false,
        manages_vpc_endpoints: false,
        tag_set: Vec::new(),
        supported_ip_address_type_set: vec!["ipv4"],
    }
}
