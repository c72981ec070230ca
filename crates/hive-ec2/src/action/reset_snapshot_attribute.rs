//! Makes a snapshot its owner's alone again.

use super::prelude::*;
use crate::rules::snapshots;

pub struct ResetSnapshotAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    snapshot_id: String,
    attribute: Attribute,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Attribute {
    CreateVolumePermission,
}

impl Action for ResetSnapshotAttribute {
    const NAME: &'static str = "ResetSnapshotAttribute";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = snapshots::find_own(call, &request.snapshot_id)?.id.clone();
        let snapshot = call.account.snapshots.edit(&id)?;
        match request.attribute {
            Attribute::CreateVolumePermission => {
                snapshot.public = false;
                snapshot.users.clear();
            }
        }
        Done::ok()
    }
}
