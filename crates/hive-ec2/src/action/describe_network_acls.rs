//! Lists network ACLs.

use super::prelude::*;
use crate::model::network_acl::NetworkAcl;
use crate::view::{TagView, tags};

pub struct DescribeNetworkAcls;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    network_acl_id: Vec<String>,
}

static FILTERS: Filters<NetworkAcl> = Filters::of(&[("owner-id", Same(|account| account.id.to_string()))])
    .shown("DescribeNetworkAcls", |acl, call| shown(view(acl, call.account)));

impl Action for DescribeNetworkAcls {
    const NAME: &'static str = "DescribeNetworkAcls";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<NetworkAclView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<NetworkAclView>> {
        let page = call.select(&call.account.network_acls, &request.network_acl_id, &FILTERS)?;
        Ok(page.listing("networkAclSet", |acl| view(acl, call.account)))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkAclView {
    network_acl_id: String,
    vpc_id: String,
    owner_id: String,
    default: bool,
    entry_set: Vec<EntryView>,
    association_set: Vec<AssociationView>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryView {
    rule_number: u32,
    protocol: String,
    rule_action: &'static str,
    egress: bool,
    cidr_block: Option<String>,
    ipv6_cidr_block: Option<String>,
    port_range: Option<PortRange>,
    icmp_type_code: Option<IcmpTypeCode>,
}

#[derive(Serialize)]
struct PortRange {
    from: i32,
    to: i32,
}

#[derive(Serialize)]
struct IcmpTypeCode {
    #[serde(rename = "type")]
    kind: i32,
    code: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AssociationView {
    network_acl_association_id: String,
    network_acl_id: String,
    subnet_id: String,
}

pub fn view(acl: &NetworkAcl, account: &Account) -> NetworkAclView {
    let entries = acl.entries.iter().map(|entry| EntryView {
        rule_number: entry.rule_number,
        protocol: entry.protocol.clone(),
        rule_action: if entry.allow { "allow" } else { "deny" },
        egress: entry.egress,
        cidr_block: entry.cidr_block.map(|cidr| cidr.to_string()),
        ipv6_cidr_block: entry.ipv6_cidr_block.map(|cidr| cidr.to_string()),
        port_range: entry.ports.map(|(from, to)| PortRange { from, to }),
        icmp_type_code: entry.icmp.map(|(kind, code)| IcmpTypeCode { kind, code }),
    });
    let associations = acl.associations.iter().map(|association| AssociationView {
        network_acl_association_id: association.id.clone(),
        network_acl_id: acl.id.to_string(),
        subnet_id: association.subnet_id.to_string(),
    });
    NetworkAclView {
        network_acl_id: acl.id.to_string(),
        vpc_id: acl.vpc_id.to_string(),
        owner_id: account.id.to_string(),
        default: acl.is_default,
        entry_set: entries.collect(),
        association_set: associations.collect(),
        tag_set: tags(&acl.tags),
    }
}
