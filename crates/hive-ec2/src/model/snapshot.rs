//! A volume as it was at one moment.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::account::AccountId;
use crate::core::id::{Id, Kind};
use crate::core::index::{Field, one};
use crate::core::table::{Listed, Resource};
use crate::core::tags::Tags;
use crate::core::text::moment;
use jiff::Timestamp;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    pub id: Id<Snapshot>,
    pub volume_id: String,
    pub volume_size: u32,
    pub description: String,
    pub encrypted: bool,
    pub kms_key_id: Option<String>,
    pub state: SnapshotState,
    pub started: Timestamp,
    /// Everyone may use it.
    #[serde(default)]
    pub public: bool,
    /// Accounts that may use it, beside its owner.
    #[serde(default)]
    pub users: BTreeSet<String>,
    /// Whose it is, where that is not the account that it is shown to. Never stored.
    #[serde(skip)]
    pub lender: Option<AccountId>,
    pub tags: Tags,
}

impl Listed for Snapshot {
    const FIELDS: &'static [Field<Self>] = &[
        Field::key(&["snapshot-id"]),
        Self::BY_VOLUME,
        Self::BY_STATUS,
        Self::BY_PUBLIC,
        Self::BY_USER,
        Field::new(&["description"], |snapshot, each| one(&snapshot.description, each)),
        Field::new(&["encrypted"], |snapshot, each| one(snapshot.encrypted, each)),
        Field::new(&["start-time"], |snapshot, each| each(&moment(snapshot.started))),
        Field::new(&["volume-size"], |snapshot, each| one(snapshot.volume_size, each)),
    ];

    fn key(&self) -> &str {
        &self.id
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

/// What it is looked up by.
impl Snapshot {
    pub const BY_STATUS: Field<Self> = Field::new(&["status"], |s, each| each(s.state.name()));
    pub const BY_VOLUME: Field<Self> = Field::new(&["volume-id"], |s, each| each(&s.volume_id));
    pub const BY_PUBLIC: Field<Self> = Field::new(&["(whether everyone may use it)"], |s, each| {
        if s.public {
            each("true");
        }
    });
    pub const BY_USER: Field<Self> =
        Field::new(&["(accounts that may use it)"], |s, each| s.users.iter().for_each(|user| each(user)));
}

impl Snapshot {
    /// Whether an account that is not its owner may make volumes of it.
    pub fn is_shared_with(&self, account: &AccountId) -> bool {
        self.public || self.users.contains(&**account)
    }
}

impl Resource for Snapshot {
    const KIND: Kind = Kind {
        name: "snapshot",
        prefix: "snap",
        not_found: "InvalidSnapshot.NotFound",
        malformed: Some("InvalidSnapshotID.Malformed"),
        noun: "snapshot",
    };

    fn tags_mut(&mut self) -> Option<&mut Tags> {
        Some(&mut self.tags)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SnapshotState {
    Pending,
    Completed,
    Error,
}

impl SnapshotState {
    pub const ALL: [SnapshotState; 3] =
        [SnapshotState::Pending, SnapshotState::Completed, SnapshotState::Error];

    pub fn name(self) -> &'static str {
        match self {
            SnapshotState::Pending => "pending",
            SnapshotState::Completed => "completed",
            SnapshotState::Error => "error",
        }
    }
}
