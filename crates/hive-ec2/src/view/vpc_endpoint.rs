//! `<vpcEndpoint>`

use serde::Serialize;

use super::network_interface::GroupIdentifier;
use super::{TagView, tags};
use crate::core::call::Call;
use crate::core::text::moment;
use crate::model::vpc_endpoint::{EndpointKind, VpcEndpoint};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VpcEndpointView {
    vpc_endpoint_id: String,
    vpc_endpoint_type: &'static str,
    vpc_id: String,
    service_name: String,
    service_region: String,
    state: &'static str,
    policy_document: String,
    route_table_id_set: Vec<String>,
    subnet_id_set: Vec<String>,
    group_set: Vec<GroupIdentifier>,
    ip_address_type: &'static str,
    dns_options: DnsOptionsView,
    private_dns_enabled: bool,
    requester_managed: bool,
    network_interface_id_set: Vec<String>,
    dns_entry_set: Vec<DnsEntryView>,
    creation_timestamp: String,
    owner_id: String,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DnsOptionsView {
    dns_record_ip_type: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DnsEntryView {
    dns_name: String,
    hosted_zone_id: &'static str,
}

pub fn vpc_endpoint(endpoint: &VpcEndpoint, call: &Call<'_>) -> VpcEndpointView {
    let account = &*call.account;
    let region = &call.environment.region;
    let groups = endpoint.groups.iter().filter_map(|id| account.security_groups.get(id));
    let interface = endpoint.kind == EndpointKind::Interface;
    let short = endpoint.service_name.rsplit_once(&format!("{region}.")).map_or("", |(_, short)| short);
    let entry = |dns_name| DnsEntryView { dns_name, hosted_zone_id: "ZHIVERECORDSONLY" };
    // A name is for addresses: without a subnet there is none.
    let named = !endpoint.interfaces.is_empty();
    let names =
        (interface && named).then(|| entry(format!("{}.{short}.{region}.vpce.amazonaws.com", endpoint.id)));
    let private =
        (endpoint.private_dns_enabled && named).then(|| entry(format!("{short}.{region}.amazonaws.com")));
    VpcEndpointView {
        vpc_endpoint_id: endpoint.id.to_string(),
        vpc_endpoint_type: endpoint.kind.name(),
        vpc_id: endpoint.vpc_id.to_string(),
        service_name: endpoint.service_name.clone(),
        service_region: region.clone(),
        state: endpoint.state.name(),
        policy_document: endpoint.policy_document.clone(),
        route_table_id_set: endpoint.route_table_ids.iter().map(ToString::to_string).collect(),
        subnet_id_set: endpoint.interfaces.iter().map(|(subnet, _)| subnet.to_string()).collect(),
        group_set: groups
            .map(|group| GroupIdentifier { group_id: group.id.to_string(), group_name: group.name.clone() })
            .collect(),
        ip_address_type: "ipv4",
        dns_options: DnsOptionsView {
            dns_record_ip_type: if interface { "ipv4" } else { "service-defined" },
        },
        private_dns_enabled: endpoint.private_dns_enabled,
        requester_managed: false,
        network_interface_id_set: endpoint.interfaces.iter().map(|(_, id)| id.to_string()).collect(),
        dns_entry_set: names.into_iter().chain(private).collect(),
        creation_timestamp: moment(endpoint.created),
        owner_id: account.id.to_string(),
        tag_set: tags(&endpoint.tags),
    }
}
