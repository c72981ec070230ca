//! Deletes a snapshot.

use super::prelude::*;

pub struct DeleteSnapshot;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    snapshot_id: String,
}

impl Action for DeleteSnapshot {
    const NAME: &'static str = "DeleteSnapshot";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        call.account.snapshots.find(&request.snapshot_id)?;
        call.account.snapshots.remove(&request.snapshot_id);
        Done::ok()
    }
}
