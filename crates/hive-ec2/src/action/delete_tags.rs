//! Takes tags away: those named, those with the named value, or all.

use super::prelude::*;

pub struct DeleteTags;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    resource_id: Vec<String>,
    #[serde(default)]
    tag: Vec<TagToDelete>,
}

impl Action for DeleteTags {
    const NAME: &'static str = "DeleteTags";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        if request.resource_id.is_empty() {
            return Err(ApiError::missing_parameter("resourceIdSet"));
        }
        for id in &request.resource_id {
            let tags = call.account.tags_mut(id)?;
            if request.tag.is_empty() {
                tags.clear();
            }
            for tag in &request.tag {
                tags.unset(&tag.key, tag.value.as_deref());
            }
        }
        Done::ok()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TagToDelete {
    key: String,
    /// Absent: whatever the value is.
    value: Option<String>,
}
