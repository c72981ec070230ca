//! Keeps a volume as it is now.

use super::prelude::*;
use std::collections::BTreeSet;

use crate::model::snapshot::{Snapshot, SnapshotState};
use crate::node::Order;
use crate::rules::devices;
use crate::view;
use crate::view::volume::SnapshotView;

pub struct CreateSnapshot;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    volume_id: String,
    #[serde(default)]
    description: String,
}

impl Action for CreateSnapshot {
    const NAME: &'static str = "CreateSnapshot";
    const ACCEPTS: Accepts = Accepts { tags: &["snapshot"], ..Accepts::NONE };
    type Request = Request;
    type Response = SnapshotView;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<SnapshotView> {
        let volume = call.account.volumes.find(&request.volume_id)?;
        devices::check_made(volume)?;
        let snapshot = Snapshot {
            id: call.new_id(),
            volume_id: volume.id.to_string(),
            volume_size: volume.size,
            description: request.description,
            encrypted: volume.encrypted,
            kms_key_id: volume.kms_key_id.clone(),
            state: SnapshotState::Pending,
            started: call.now,
            public: false,
            users: BTreeSet::new(),
            lender: None,
            tags: call.new_tags::<Snapshot>(),
        };
        let view = view::volume::snapshot(&snapshot, call.account);
        call.order(Order::CreateSnapshot(snapshot.id.clone()));
        call.account.snapshots.insert(snapshot);
        Ok(view)
    }
}
