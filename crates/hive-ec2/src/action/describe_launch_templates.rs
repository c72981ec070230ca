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

static FILTERS: Filters<LaunchTemplate> = Filters::of(&[]);

impl Action for DescribeLaunchTemplates {
    const NAME: &'static str = "DescribeLaunchTemplates";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<LaunchTemplateView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<LaunchTemplateView>> {
        let mut ids = request.launch_template_id;
        for name in request.launch_template_name {
            let name = TemplateName::new(None, Some(name));
            ids.push(name.find(call.account)?.id.to_string());
        }
        let page = call.select(&call.account.launch_templates, &ids, &FILTERS)?;
        Ok(page.listing("launchTemplates", |found| launch_template(found, call.account)))
    }
}
