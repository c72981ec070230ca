//! Makes an image its owner's alone again.

use super::prelude::*;
use crate::rules::images;

pub struct ResetImageAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    image_id: String,
    attribute: Attribute,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Attribute {
    LaunchPermission,
}

impl Action for ResetImageAttribute {
    const NAME: &'static str = "ResetImageAttribute";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = images::find_own(call, &request.image_id)?.id.clone();
        let image = call.account.images.edit(&id)?;
        match request.attribute {
            Attribute::LaunchPermission => {
                image.public = false;
                image.users.clear();
            }
        }
        Done::ok()
    }
}
