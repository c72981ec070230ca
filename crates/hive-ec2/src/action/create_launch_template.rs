//! Keeps parameters of RunInstances under a name.

use super::prelude::*;
use hive_api::Tree;

use crate::model::launch_template::{LaunchTemplate, TemplateVersion};
use crate::rules::launch_templates;
use crate::view::launch_template::{LaunchTemplateView, launch_template};

pub struct CreateLaunchTemplate;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    launch_template_name: String,
    version_description: Option<String>,
    launch_template_data: Tree,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    launch_template: LaunchTemplateView,
}

impl Action for CreateLaunchTemplate {
    const NAME: &'static str = "CreateLaunchTemplate";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["launch-template"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let name = request.launch_template_name;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-().{}/_".contains(c);
        if !(3..=128).contains(&name.len()) || !name.chars().all(plain) {
            return Err(ApiError::client(
                "InvalidLaunchTemplateName.MalformedException",
                "A launch template name must be between 3 and 128 characters of a-z, A-Z, 0-9, -().{}/_",
            ));
        }
        launch_templates::check(&request.launch_template_data, call)?;
        if call.account.launch_templates.with(LaunchTemplate::BY_NAME, &name).next().is_some() {
            return Err(ApiError::client(
                "InvalidLaunchTemplateName.AlreadyExistsException",
                format!("Launch template name already in use: {name}"),
            ));
        }
        let first = TemplateVersion {
            number: 1,
            description: request.version_description,
            created: call.now,
            data: request.launch_template_data,
        };
        let template = LaunchTemplate {
            id: call.new_id(),
            name,
            created: call.now,
            default_version: 1,
            latest_version: 1,
            versions: vec![first],
            tags: call.new_tags::<LaunchTemplate>(),
        };
        let launch_template = launch_template(&template, call.account);
        call.account.launch_templates.insert(template);
        Ok(Response { launch_template })
    }
}
