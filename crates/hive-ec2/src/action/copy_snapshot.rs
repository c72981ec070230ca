//! Makes another snapshot like one of this region.

use super::prelude::*;
use std::collections::BTreeSet;

use crate::model::snapshot::{Snapshot, SnapshotState};
use crate::node::Order;
use crate::rules::{devices, snapshots};
use crate::view::{TagView, tags};

pub struct CopySnapshot;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    source_region: String,
    source_snapshot_id: String,
    destination_region: Option<String>,
    #[expect(dead_code, reason = "accepted without effect: it authorises a copy between regions")]
    presigned_url: Option<String>,
    #[serde(default)]
    description: String,
    encrypted: Option<bool>,
    kms_key_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    snapshot_id: String,
    tag_set: Vec<TagView>,
}

impl Action for CopySnapshot {
    const NAME: &'static str = "CopySnapshot";
    const ACCEPTS: Accepts = Accepts { tags: &["snapshot"], ..Accepts::NONE };
    const WITHOUT_EFFECT: &'static [&'static str] = &["PresignedUrl"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        for region in
            [Some(&request.source_region), request.destination_region.as_ref()].into_iter().flatten()
        {
            if *region != call.environment.region {
                return Err(ApiError::invalid_value("Region", region, "This endpoint has one region only."));
            }
        }
        let source = snapshots::find(call, &request.source_snapshot_id)?;
        let encrypted = source.encrypted
            || request.encrypted.unwrap_or(false)
            || request.kms_key_id.is_some()
            || devices::encrypts_by_default(call.account);
        let kms_key_id = request
            .kms_key_id
            .or_else(|| source.kms_key_id.clone())
            .or_else(|| Some(devices::default_key(call)));
        let copy = Snapshot {
            id: call.new_id(),
            volume_id: source.volume_id.clone(),
            volume_size: source.volume_size,
            description: request.description,
            encrypted,
            kms_key_id: kms_key_id.filter(|_| encrypted),
            state: SnapshotState::Pending,
            started: call.now,
            public: false,
            users: BTreeSet::new(),
            lender: None,
            tags: call.new_tags::<Snapshot>(),
        };
        let response = Response { snapshot_id: copy.id.to_string(), tag_set: tags(&copy.tags) };
        call.order(Order::CreateSnapshot(copy.id.clone()));
        call.account.snapshots.insert(copy);
        Ok(response)
    }
}
