//! `<vpcPeeringConnection>`

use serde::Serialize;

use super::{TagView, tags};
use crate::core::call::Call;
use crate::core::text::moment;
use crate::model::vpc_peering_connection::{PeeringSide, PeeringState, VpcPeeringConnection};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VpcPeeringConnectionView {
    vpc_peering_connection_id: String,
    requester_vpc_info: SideView,
    accepter_vpc_info: SideView,
    status: StatusView,
    expiration_time: Option<String>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SideView {
    owner_id: String,
    vpc_id: String,
    region: String,
    cidr_block: Option<String>,
    cidr_block_set: Vec<CidrView>,
    ipv6_cidr_block_set: Vec<Ipv6CidrView>,
    peering_options: Option<OptionsView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CidrView {
    cidr_block: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ipv6CidrView {
    ipv6_cidr_block: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionsView {
    pub allow_dns_resolution_from_remote_vpc: bool,
    allow_egress_from_local_classic_link_to_remote_vpc: bool,
    allow_egress_from_local_vpc_to_remote_classic_link: bool,
}

pub fn options(side: &PeeringSide) -> OptionsView {
    OptionsView {
        allow_dns_resolution_from_remote_vpc: side.allow_dns_resolution,
        allow_egress_from_local_classic_link_to_remote_vpc: false,
        allow_egress_from_local_vpc_to_remote_classic_link: false,
    }
}

#[derive(Serialize)]
struct StatusView {
    code: &'static str,
    message: String,
}

pub fn vpc_peering_connection(
    connection: &VpcPeeringConnection,
    call: &Call<'_>,
) -> VpcPeeringConnectionView {
    let side = |side: &PeeringSide, details: bool| {
        let vpc = call.account.vpcs.get(&side.vpc_id).filter(|_| details);
        let cidrs = vpc.into_iter().flat_map(|vpc| &vpc.cidrs);
        let ipv6 = vpc.into_iter().flat_map(|vpc| &vpc.ipv6_cidrs);
        SideView {
            owner_id: call.account.id.to_string(),
            vpc_id: side.vpc_id.to_string(),
            region: call.environment.region.clone(),
            cidr_block: details.then(|| side.cidr_block.clone()),
            cidr_block_set: cidrs.map(|block| CidrView { cidr_block: block.cidr.to_string() }).collect(),
            ipv6_cidr_block_set: ipv6
                .map(|block| Ipv6CidrView { ipv6_cidr_block: block.cidr.to_string() })
                .collect(),
            peering_options: details.then(|| options(side)),
        }
    };
    // The other side's network is not shown before its owner agreed.
    let state = connection.state_at(call.now);
    let agreed = matches!(state, PeeringState::Provisioning | PeeringState::Active);
    VpcPeeringConnectionView {
        vpc_peering_connection_id: connection.id.to_string(),
        requester_vpc_info: side(&connection.requester, true),
        accepter_vpc_info: side(&connection.accepter, agreed),
        status: StatusView { code: state.name(), message: state.message(&call.account.id) },
        expiration_time: (state == PeeringState::PendingAcceptance).then(|| moment(connection.expires)),
        tag_set: tags(&connection.tags),
    }
}
