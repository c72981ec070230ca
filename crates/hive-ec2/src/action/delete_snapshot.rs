//! Deletes a snapshot.

use super::prelude::*;
use crate::model::departed::Departed;
use crate::model::image::Image;
use crate::rules::snapshots;

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
        let snapshot = snapshots::find_own(call, &request.snapshot_id)?;
        if let Some(image) = call.account.images.with(Image::BY_SNAPSHOT, &snapshot.id).next() {
            return Err(ApiError::client(
                "InvalidSnapshot.InUse",
                format!("The snapshot {} is currently in use by {}", snapshot.id, image.id),
            ));
        }
        let id = snapshot.id.clone();
        call.depart(Departed::Snapshot(id));
        Done::ok()
    }
}
