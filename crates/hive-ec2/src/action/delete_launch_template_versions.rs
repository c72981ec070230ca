//! Deletes versions of a launch template; the default one stays, and those that cannot go are named.

use super::prelude::*;
use crate::rules::launch_templates::TemplateName;

pub struct DeleteLaunchTemplateVersions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    launch_template_id: Option<String>,
    launch_template_name: Option<String>,
    launch_template_version: Vec<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    successfully_deleted_launch_template_version_set: Vec<Deleted>,
    unsuccessfully_deleted_launch_template_version_set: Vec<Deleted>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Deleted {
    launch_template_id: String,
    launch_template_name: String,
    version_number: u64,
    response_error: Option<ErrorView>,
}

#[derive(Serialize)]
struct ErrorView {
    code: &'static str,
    message: String,
}

impl Action for DeleteLaunchTemplateVersions {
    const NAME: &'static str = "DeleteLaunchTemplateVersions";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let name = TemplateName::new(request.launch_template_id, request.launch_template_name);
        let id = name.find(call.account)?.id.clone();
        let template = call.account.launch_templates.edit(&id)?;
        let (mut done, mut refused) = (Vec::new(), Vec::new());
        for number in request.launch_template_version {
            let problem = if number == template.default_version {
                Some(("unexpectedError", "The default version cannot be deleted"))
            } else if template.version(number).is_none() {
                Some(("launchTemplateVersionDoesNotExist", "The version does not exist"))
            } else {
                None
            };
            let row = Deleted {
                launch_template_id: id.to_string(),
                launch_template_name: template.name.clone(),
                version_number: number,
                response_error: problem
                    .map(|(code, message)| ErrorView { code, message: message.to_owned() }),
            };
            if problem.is_some() {
                refused.push(row);
            } else {
                template.versions.retain(|version| version.number != number);
                done.push(row);
            }
        }
        Ok(Response {
            successfully_deleted_launch_template_version_set: done,
            unsuccessfully_deleted_launch_template_version_set: refused,
        })
    }
}
