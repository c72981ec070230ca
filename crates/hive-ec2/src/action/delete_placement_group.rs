//! Deletes a placement group that no instance is in.

use super::prelude::*;
use crate::model::placement_group::PlacementGroup;
use crate::rules::dependents;

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
        let name = &request.group_name;
        let groups = &call.account.placement_groups;
        let group = groups.get(name).or_else(|| groups.with(PlacementGroup::BY_NAME, name).next());
        let id = group.map(|group| group.id.clone()).ok_or_else(|| {
            ApiError::client(
                "InvalidPlacementGroup.Unknown",
                format!("The Placement Group '{name}' is unknown."),
            )
        })?;
        if !dependents::of_placement_group(call.account, name).is_empty() {
            return Err(ApiError::client(
                "InvalidPlacementGroup.InUse",
                format!("The placement group '{name}' is in use and may not be deleted."),
            ));
        }
        call.account.placement_groups.remove(&id);
        Done::ok()
    }
}
