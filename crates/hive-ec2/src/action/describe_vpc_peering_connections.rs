//! Lists VPC peering connections; ended ones for a while.

use super::prelude::*;
use crate::model::vpc_peering_connection::{PeeringState, VpcPeeringConnection};
use crate::view::vpc_peering_connection::{VpcPeeringConnectionView, vpc_peering_connection};

pub struct DescribeVpcPeeringConnections;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    vpc_peering_connection_id: Vec<String>,
}

static FILTERS: Filters<VpcPeeringConnection> = Filters::of(&[
    ("accepter-vpc-info.owner-id", Same(|account| account.id.to_string())),
    ("requester-vpc-info.owner-id", Same(|account| account.id.to_string())),
])
.shown("DescribeVpcPeeringConnections", |p, call| shown(vpc_peering_connection(p, call)))
.narrowed(|call, name, pattern| match name {
    "expiration-time" => VpcPeeringConnection::BY_END.found(pattern),
    "status-code" => in_states(|state| matches(pattern, state.name())),
    "status-message" => in_states(|state| matches(pattern, &state.message(&call.account.id))),
    _ => None,
});

/// Where all stands that is in one of some states. What has expired may still be written down as pending.
fn in_states(wanted: impl Fn(PeeringState) -> bool) -> Option<Found> {
    let now = |state: PeeringState| {
        wanted(state) || (state == PeeringState::PendingAcceptance && wanted(PeeringState::Expired))
    };
    let states = PeeringState::ALL.into_iter().filter(|state| now(*state));
    VpcPeeringConnection::BY_STATE.found_any(states.map(PeeringState::name))
}

impl Action for DescribeVpcPeeringConnections {
    const NAME: &'static str = "DescribeVpcPeeringConnections";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<VpcPeeringConnectionView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<VpcPeeringConnectionView>> {
        let visible = |p: &VpcPeeringConnection| !p.is_forgotten(call.now);
        let all = &call.account.vpc_peering_connections;
        let page = call.select_where(all, &request.vpc_peering_connection_id, &FILTERS, visible)?;
        Ok(page.listing("vpcPeeringConnectionSet", |p| vpc_peering_connection(p, call)))
    }
}
