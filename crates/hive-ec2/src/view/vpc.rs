//! `<vpc>`

use serde::{Serialize, Serializer};

use super::{StateView, TagView, tags};
use crate::core::id::Id;
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::dhcp_options::DhcpOptions;
use crate::model::vpc::{CidrAssociation, Tenancy, Vpc};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VpcView {
    // Not the shared texts: counting who has them takes longer than to copy them when several requests do it at once.
    vpc_id: String,
    owner_id: String,
    state: &'static str,
    cidr_block: Option<Ipv4Cidr>,
    cidr_block_association_set: Vec<CidrView>,
    ipv6_cidr_block_association_set: Vec<Ipv6CidrView>,
    #[serde(serialize_with = "or_default")]
    dhcp_options_id: Option<Id<DhcpOptions>>,
    instance_tenancy: Tenancy,
    is_default: bool,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CidrView {
    association_id: String,
    cidr_block: Ipv4Cidr,
    cidr_block_state: StateView,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ipv6CidrView {
    association_id: String,
    ipv6_cidr_block: String,
    ipv6_cidr_block_state: StateView,
    ipv6_pool: &'static str,
}

pub fn cidr(association: &CidrAssociation<Ipv4Cidr>, state: &'static str) -> CidrView {
    CidrView {
        association_id: association.id.clone(),
        cidr_block: association.cidr,
        cidr_block_state: StateView { state },
    }
}

pub fn ipv6_cidr(association: &CidrAssociation<Ipv6Cidr>, state: &'static str) -> Ipv6CidrView {
    Ipv6CidrView {
        association_id: association.id.clone(),
        ipv6_cidr_block: association.cidr.to_string(),
        ipv6_cidr_block_state: StateView { state },
        ipv6_pool: "Amazon",
    }
}

pub fn vpc(vpc: &Vpc, account: &Account) -> VpcView {
    VpcView {
        vpc_id: vpc.id.to_string(),
        owner_id: account.id.to_string(),
        state: "available",
        cidr_block: vpc.cidr_block(),
        cidr_block_association_set: vpc.cidrs.iter().map(|a| cidr(a, "associated")).collect(),
        ipv6_cidr_block_association_set: vpc.ipv6_cidrs.iter().map(|a| ipv6_cidr(a, "associated")).collect(),
        dhcp_options_id: vpc.dhcp_options_id.clone(),
        instance_tenancy: vpc.instance_tenancy,
        is_default: vpc.is_default,
        tag_set: tags(&vpc.tags),
    }
}

/// A VPC without options of its own has those called `default`.
fn or_default<S: Serializer>(id: &Option<Id<DhcpOptions>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id.as_ref().map_or("default", Id::as_str))
}
