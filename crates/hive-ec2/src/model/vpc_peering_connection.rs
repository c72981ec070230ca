//! Two VPCs of one account that reach each other, once the owner of the second agreed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::account::AccountId;
use super::vpc::Vpc;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VpcPeeringConnection {
    pub id: Id<VpcPeeringConnection>,
    pub requester: PeeringSide,
    pub accepter: PeeringSide,
    pub state: PeeringState,
    /// A request that nobody answers expires.
    pub expires: Timestamp,
    /// When it was deleted or rejected: described for a while after that.
    pub ended: Option<Timestamp>,
    pub tags: Tags,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PeeringSide {
    /// The VPC may be gone when the connection is only described.
    pub vpc_id: Id<Vpc>,
    /// As of the request: still shown when the VPC is gone.
    pub cidr_block: String,
    pub allow_dns_resolution: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeeringState {
    PendingAcceptance,
    Provisioning,
    Active,
    Deleting,
    Deleted,
    Rejected,
    Failed,
    Expired,
}

impl PeeringState {
    pub const ALL: [PeeringState; 8] = [
        Self::PendingAcceptance,
        Self::Provisioning,
        Self::Active,
        Self::Deleting,
        Self::Deleted,
        Self::Rejected,
        Self::Failed,
        Self::Expired,
    ];

    /// Whether it stands between two VPCs, agreed on or not.
    pub fn is_open(self) -> bool {
        matches!(self, Self::PendingAcceptance | Self::Provisioning | Self::Active)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::PendingAcceptance => "pending-acceptance",
            Self::Provisioning => "provisioning",
            Self::Active => "active",
            Self::Deleting => "deleting",
            Self::Deleted => "deleted",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }

    /// Whose turn it is, or who did it: both VPCs are of one account here.
    pub fn message(self, account: &AccountId) -> String {
        match self {
            Self::PendingAcceptance => format!("Pending Acceptance by {account}"),
            Self::Provisioning => "Provisioning".to_owned(),
            Self::Active => "Active".to_owned(),
            Self::Deleting => "Deleting".to_owned(),
            Self::Deleted => format!("Deleted by {account}"),
            Self::Rejected => format!("Rejected by {account}"),
            Self::Failed => {
                "Failed due to incorrect VPC-ID, Account ID, or overlapping CIDR range".to_owned()
            }
            Self::Expired => "Expired".to_owned(),
        }
    }
}

impl Listed for VpcPeeringConnection {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["vpc-peering-connection-id"]),
        Self::BY_REQUESTER,
        Self::BY_ACCEPTER,
        Self::BY_STATE,
        Self::BY_END,
        Field::new(&["accepter-vpc-info.cidr-block"], |p, each| one(&p.accepter.cidr_block, each)),
        Field::new(&["requester-vpc-info.cidr-block"], |p, each| one(&p.requester.cidr_block, each)),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

impl VpcPeeringConnection {
    /// Whoever asks after the time is over learns so, whether or not the record says it yet.
    pub fn state_at(&self, now: Timestamp) -> PeeringState {
        match self.state {
            PeeringState::PendingAcceptance if now >= self.expires => PeeringState::Expired,
            state => state,
        }
    }

    /// Nothing can be done with it any more, and nobody need see it.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        const ENDED: i64 = 3600;
        const EXPIRED: i64 = 2 * 24 * 3600;
        match self.state_at(now) {
            PeeringState::Expired => now.as_second() - self.expires.as_second() > EXPIRED,
            _ => self.ended.is_some_and(|at| now.as_second() - at.as_second() > ENDED),
        }
    }
}

/// What it is looked up by.
impl VpcPeeringConnection {
    pub const BY_REQUESTER: Field<Self> =
        Field::new(&["requester-vpc-info.vpc-id"], |p, each| each(&p.requester.vpc_id));
    /// As it was written down last: it may have expired since.
    pub const BY_STATE: Field<Self> = Field::new(&["(state)"], |p, each| each(p.state.name()));
    pub const BY_END: Field<Self> = Field::new(&["(when it expires)"], |p, each| each(&moment(p.expires)));
    pub const BY_ACCEPTER: Field<Self> =
        Field::new(&["accepter-vpc-info.vpc-id"], |p, each| each(&p.accepter.vpc_id));
}

impl Resource for VpcPeeringConnection {
    const KIND: Kind = Kind {
        name: "vpc-peering-connection",
        prefix: "pcx",
        not_found: "InvalidVpcPeeringConnectionID.NotFound",
        malformed: Some("InvalidVpcPeeringConnectionId.Malformed"),
        noun: "vpcPeeringConnection ID",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}
