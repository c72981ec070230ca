//! Sets the version of a launch template that is meant when none is named.

use super::prelude::*;
use crate::rules::launch_templates::{self, TemplateName};
use crate::view::launch_template::{LaunchTemplateView, launch_template};

pub struct ModifyLaunchTemplate;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    launch_template_id: Option<String>,
    launch_template_name: Option<String>,
    set_default_version: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    launch_template: LaunchTemplateView,
}

impl Action for ModifyLaunchTemplate {
    const NAME: &'static str = "ModifyLaunchTemplate";
    const ACCEPTS: Accepts = Accepts { client_token: true, ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let name = TemplateName::new(request.launch_template_id, request.launch_template_name);
        let template = name.find(call.account)?;
        let id = template.id.clone();
        if let Some(wanted) = &request.set_default_version {
            let number = launch_templates::version(template, wanted)?.number;
            call.account.launch_templates.edit(&id)?.default_version = number;
        }
        let template = call.account.launch_templates.find(&id)?;
        Ok(Response { launch_template: launch_template(template, call.account) })
    }
}
