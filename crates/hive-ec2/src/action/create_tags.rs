//! Sets tags on anything that has an id.

use super::prelude::*;
use crate::core::common::{Tag, duplicate_key};

pub struct CreateTags;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    resource_id: Vec<String>,
    #[serde(default)]
    tag: Vec<Tag>,
}

impl Action for CreateTags {
    const NAME: &'static str = "CreateTags";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        if request.resource_id.is_empty() {
            return Err(ApiError::missing_parameter("resourceIdSet"));
        }
        if request.tag.is_empty() {
            return Err(ApiError::missing_parameter("tagSet"));
        }
        for (index, tag) in request.tag.iter().enumerate() {
            if request.tag[..index].iter().any(|other| other.key == tag.key) {
                return Err(duplicate_key(&tag.key));
            }
        }
        for id in &request.resource_id {
            let tags = call.account.tags_mut(id)?;
            for tag in &request.tag {
                tags.set(tag.key.clone(), tag.value.clone())?;
            }
        }
        Done::ok()
    }
}
