//! Deletes a launch template with all its versions; instances that were started from it stay.

use super::prelude::*;
use crate::rules::launch_templates::TemplateName;
use crate::view::launch_template::{LaunchTemplateView, launch_template};

pub struct DeleteLaunchTemplate;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    launch_template: LaunchTemplateView,
}

impl Action for DeleteLaunchTemplate {
    const NAME: &'static str = "DeleteLaunchTemplate";
    type Request = TemplateName;
    type Response = Response;

    fn run(request: TemplateName, call: &mut Call<'_>) -> ApiResult<Response> {
        let template = request.find(call.account)?;
        let (id, launch_template) = (template.id.clone(), launch_template(template, call.account));
        call.account.launch_templates.remove(&id);
        Ok(Response { launch_template })
    }
}
