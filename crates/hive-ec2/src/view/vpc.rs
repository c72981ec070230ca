//! `<vpc>`

use serde::Serialize;

use super::{StateView, TagView, tags};
use crate::model::account::Account;
use crate::model::cidr::{Ipv4Cidr, Ipv6Cidr};
use crate::model::vpc::{CidrAssociation, Tenancy, Vpc};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VpcView {
    vpc_id: String,
    owner_id: String,
    state: &'static str,
    cidr_block: Option<String>,
    cidr_block_association_set: Vec<CidrView>,
    ipv6_cidr_block_association_set: Vec<Ipv6CidrView>,
    dhcp_options_id: String,
    instance_tenancy: Tenancy,
    is_default: bool,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CidrView {
    association_id: String,
    cidr_block: String,
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
        cidr_block: association.cidr.to_string(),
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
        cidr_block: vpc.cidr_block().map(|cidr| cidr.to_string()),
        cidr_block_association_set: vpc.cidrs.iter().map(|a| cidr(a, "associated")).collect(),
        ipv6_cidr_block_association_set: vpc.ipv6_cidrs.iter().map(|a| ipv6_cidr(a, "associated")).collect(),
        dhcp_options_id: vpc.dhcp_options_id.as_ref().map_or("default".to_owned(), ToString::to_string),
        instance_tenancy: vpc.instance_tenancy,
        is_default: vpc.is_default,
        tag_set: tags(&vpc.tags),
    }
}
