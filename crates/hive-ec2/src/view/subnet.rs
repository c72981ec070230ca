//! `<subnet>`

use serde::Serialize;

use super::{StateView, TagView, tags};
use crate::core::call::Call;
use crate::core::environment::zone_id;
use crate::model::cidr::Ipv6Cidr;
use crate::model::subnet::{HostnameType, Subnet};
use crate::model::vpc::CidrAssociation;
use crate::rules::vpcs::available_addresses;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubnetView {
    subnet_id: String,
    subnet_arn: String,
    state: &'static str,
    owner_id: String,
    vpc_id: String,
    cidr_block: String,
    ipv6_cidr_block_association_set: Vec<Ipv6View>,
    available_ip_address_count: u64,
    availability_zone: String,
    availability_zone_id: String,
    default_for_az: bool,
    map_public_ip_on_launch: bool,
    map_customer_owned_ip_on_launch: bool,
    assign_ipv6_address_on_creation: bool,
    enable_dns64: bool,
    ipv6_native: bool,
    private_dns_name_options_on_launch: DnsOptions,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ipv6View {
    association_id: String,
    ipv6_cidr_block: String,
    ipv6_cidr_block_state: StateView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DnsOptions {
    pub hostname_type: HostnameType,
    #[serde(rename = "enableResourceNameDnsARecord")]
    pub a_record: bool,
    #[serde(rename = "enableResourceNameDnsAAAARecord")]
    pub aaaa_record: bool,
}

pub fn ipv6(association: &CidrAssociation<Ipv6Cidr>, state: &'static str) -> Ipv6View {
    Ipv6View {
        association_id: association.id.clone(),
        ipv6_cidr_block: association.cidr.to_string(),
        ipv6_cidr_block_state: StateView { state },
    }
}

pub fn subnet(subnet: &Subnet, call: &Call<'_>) -> SubnetView {
    let ipv6 = subnet.ipv6_cidr.iter().map(|association| ipv6(association, "associated"));
    SubnetView {
        subnet_id: subnet.id.to_string(),
        subnet_arn: call.arn(&format!("subnet/{}", subnet.id)),
        state: "available",
        owner_id: call.account.id.to_string(),
        vpc_id: subnet.vpc_id.to_string(),
        cidr_block: subnet.cidr_block.to_string(),
        ipv6_cidr_block_association_set: ipv6.collect(),
        available_ip_address_count: available_addresses(call.account, subnet),
        availability_zone: subnet.availability_zone.clone(),
        availability_zone_id: zone_id(&subnet.availability_zone),
        default_for_az: subnet.default_for_az,
        map_public_ip_on_launch: subnet.map_public_ip_on_launch,
        map_customer_owned_ip_on_launch: false,
        assign_ipv6_address_on_creation: subnet.assign_ipv6_address_on_creation,
        enable_dns64: subnet.enable_dns64,
        ipv6_native: false,
        private_dns_name_options_on_launch: DnsOptions {
            hostname_type: subnet.private_dns_hostname_type,
            a_record: subnet.enable_resource_name_dns_a_record,
            aaaa_record: subnet.enable_resource_name_dns_aaaa_record,
        },
        tag_set: tags(&subnet.tags),
    }
}
