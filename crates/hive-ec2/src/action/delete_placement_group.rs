//! Deletes a placement group that no instance is in.

use super::prelude::*;
use crate::rules::placement;

pub struct DeletePlacementGroup;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    group_name: String,
}

impl Action for DeletePlacementGroup {
    const NAME: &'static str = "DeletePlacementGroup";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        placement::delete(call.account, &request.group_name)?;
        Done::ok()
    }
}
