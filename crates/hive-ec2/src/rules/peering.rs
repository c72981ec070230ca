//! VPC peering: who may peer with whom, and how a connection ends.

use hive_api::{ApiError, ApiResult};
use jiff::{SignedDuration, Timestamp};

use crate::core::call::Call;
use crate::core::id::Id;
use crate::model::account::Account;
use crate::model::vpc::Vpc;
use crate::model::vpc_peering_connection::{PeeringSide, PeeringState, VpcPeeringConnection};
use crate::node::Order;

/// How long a request waits for its answer.
const WAITING: SignedDuration = SignedDuration::from_hours(7 * 24);

pub fn create(call: &mut Call<'_>, vpc: &str, peer: &str) -> ApiResult<Id<VpcPeeringConnection>> {
    let (ours, theirs) = (call.account.vpcs.find(vpc)?, call.account.vpcs.find(peer)?);
    if ours.id == theirs.id {
        return Err(ApiError::client("InvalidParameterValue", "A VPC cannot be peered with itself"));
    }
    let between = |known: &&VpcPeeringConnection| {
        known.state_at(call.now).is_open()
            && [&known.requester.vpc_id, &known.accepter.vpc_id]
                .iter()
                .all(|id| **id == ours.id || **id == theirs.id)
    };
    if let Some(known) = of_vpc(call.account, &ours.id).find(between) {
        return Err(ApiError::client(
            "VpcPeeringConnectionAlreadyExists",
            format!("The VPCs {} and {} are peered already: {}", ours.id, theirs.id, known.id),
        ));
    }
    let overlap = ours.cidrs.iter().any(|a| theirs.cidrs.iter().any(|b| a.cidr.overlaps(b.cidr)));
    let connection = VpcPeeringConnection {
        id: call.new_id(),
        requester: side(ours),
        accepter: side(theirs),
        // As in EC2: overlapping blocks fail after the request was taken, not with it.
        state: if overlap { PeeringState::Failed } else { PeeringState::PendingAcceptance },
        expires: call.now.checked_add(WAITING).unwrap_or(call.now),
        ended: overlap.then_some(call.now),
        tags: call.new_tags::<VpcPeeringConnection>(),
    };
    let id = connection.id.clone();
    call.account.vpc_peering_connections.insert(connection);
    Ok(id)
}

fn side(vpc: &Vpc) -> PeeringSide {
    PeeringSide {
        vpc_id: vpc.id.clone(),
        cidr_block: vpc.cidr_block().map(|cidr| cidr.to_string()).unwrap_or_default(),
        allow_dns_resolution: false,
    }
}

pub fn of_vpc<'a>(account: &'a Account, vpc: &str) -> impl Iterator<Item = &'a VpcPeeringConnection> {
    let all = &account.vpc_peering_connections;
    all.with(VpcPeeringConnection::BY_REQUESTER, vpc).chain(all.with(VpcPeeringConnection::BY_ACCEPTER, vpc))
}

/// Moves a connection on, if it is in a state from which that is possible.
pub fn advance(call: &mut Call<'_>, id: &str, from: &[PeeringState], to: PeeringState) -> ApiResult<()> {
    let connection = call.account.vpc_peering_connections.find(id)?;
    let state = connection.state_at(call.now);
    if !from.contains(&state) {
        return Err(ApiError::client(
            "InvalidStateTransition",
            format!(
                "Invalid state transition for {id}, attempted to transition from {} to {}",
                state.name(),
                to.name()
            ),
        ));
    }
    let (id, now) = (connection.id.clone(), call.now);
    let connection = call.account.vpc_peering_connections.edit(&id)?;
    connection.state = to;
    match to {
        PeeringState::Provisioning => call.order(Order::CreatePeering(id)),
        PeeringState::Deleting => call.order(Order::DeletePeering(id)),
        PeeringState::Rejected => connection.ended = Some(now),
        _ => {}
    }
    Ok(())
}

/// What the node's report makes of a connection.
pub fn reported(call: &mut Call<'_>, id: &str, created: bool, failed: bool) -> ApiResult<()> {
    let Some(connection) = call.account.vpc_peering_connections.get(id) else { return Ok(()) };
    let next = match (connection.state, created, failed) {
        (PeeringState::Provisioning, true, false) => PeeringState::Active,
        (PeeringState::Provisioning, true, true) => PeeringState::Failed,
        (PeeringState::Deleting, false, false) => PeeringState::Deleted,
        _ => return Ok(()),
    };
    let now = call.now;
    let connection = call.account.vpc_peering_connections.edit(id)?;
    connection.state = next;
    connection.ended = (next != PeeringState::Active).then_some(now);
    Ok(())
}

/// Requests that nobody answered in time, written down.
pub fn expire(account: &mut Account, now: Timestamp) {
    let late = |p: &&VpcPeeringConnection| p.state != p.state_at(now);
    let late: Vec<_> =
        account.vpc_peering_connections.iter().filter(late).map(|p| (p.id.clone(), p.expires)).collect();
    for (id, at) in late {
        if let Ok(connection) = account.vpc_peering_connections.edit(&id) {
            (connection.state, connection.ended) = (PeeringState::Expired, Some(at));
        }
    }
}

/// Whether packets go from one VPC to the other.
pub fn are_peered(account: &Account, one: &str, other: &str) -> bool {
    of_vpc(account, one).any(|connection| {
        let sides = [&connection.requester.vpc_id, &connection.accepter.vpc_id];
        connection.state == PeeringState::Active && sides.iter().any(|side| ***side == *other)
    })
}
