//! Adds a version to a launch template, from nothing or from another version.

use super::prelude::*;
use hive_api::Tree;

use crate::model::launch_template::TemplateVersion;
use crate::rules::launch_templates::{self, TemplateName};
use crate::view::launch_template::{VersionView, version};

pub struct CreateLaunchTemplateVersion;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    launch_template_id: Option<String>,
    launch_template_name: Option<String>,
    source_version: Option<String>,
    version_description: Option<String>,
    launch_template_data: Tree,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    launch_template_version: VersionView,
}

impl Action for CreateLaunchTemplateVersion {
    const NAME: &'static str = "CreateLaunchTemplateVersion";
    const ACCEPTS: Accepts = Accepts { client_token: true, ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let name = TemplateName::new(request.launch_template_id, request.launch_template_name);
        launch_templates::check(&request.launch_template_data, call)?;
        let template = name.find(call.account)?;
        let mut data = request.launch_template_data;
        if let Some(source) = &request.source_version {
            let source = launch_templates::version(template, source)?;
            for (name, child) in source.data.0.children() {
                if !data.0.has(name) {
                    data.0.put(name, child.clone());
                }
            }
        }
        let (id, created) = (template.id.clone(), call.now);
        let template = call.account.launch_templates.edit(&id)?;
        template.latest_version += 1;
        let number = template.latest_version;
        template.versions.push(TemplateVersion {
            number,
            description: request.version_description,
            created,
            data,
        });
        let template = call.account.launch_templates.find(&id)?;
        let made = launch_templates::version(template, &number.to_string())?;
        Ok(Response { launch_template_version: version(template, made, call.account) })
    }
}
