//! Lists launch templates.

use super::prelude::*;
use crate::model::launch_template::LaunchTemplate;
use crate::rules::launch_templates::TemplateName;
use crate::view::launch_template::{LaunchTemplateView, launch_template};

pub struct DescribeLaunchTemplates;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    launch_template_id: Vec<String>,
    #[serde(default)]
    launch_template_name: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    launch_templates: Vec<LaunchTemplateView>,
    next_token: Option<String>,
}

static FILTERS: Filters<LaunchTemplate> = Filters::of(&[]);

impl Action for DescribeLaunchTemplates {
    const NAME: &'static str = "DescribeLaunchTemplates";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut ids = request.launch_template_id;
        for name in request.launch_template_name {
            let name = TemplateName::new(None, Some(name));
            ids.push(name.find(call.account)?.id.to_string());
        }
        let page = call.select(&call.account.launch_templates, &ids, &FILTERS)?;
        Ok(Response {
            launch_templates: page.items.iter().map(|found| launch_template(found, call.account)).collect(),
            next_token: page.next_token,
        })
    }
}
