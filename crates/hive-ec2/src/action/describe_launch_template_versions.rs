//! Lists versions of one launch template, or the latest or default ones of all.

use super::prelude::*;
use std::sync::Arc;

use crate::core::table::{Listed, TagFilters};
use crate::core::text::moment;
use crate::model::launch_template::{LaunchTemplate, TemplateVersion};
use crate::rules::launch_templates::{TemplateName, version as find_version};
use crate::view::launch_template::{VersionView, version};

pub struct DescribeLaunchTemplateVersions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    launch_template_id: Option<String>,
    launch_template_name: Option<String>,
    #[serde(default)]
    launch_template_version: Vec<String>,
    min_version: Option<u64>,
    max_version: Option<u64>,
}

/// A version with the template around it.
struct Item {
    key: String,
    template: Arc<LaunchTemplate>,
    version: TemplateVersion,
}

impl Listed for Item {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        &self.key
    }
}

static FILTERS: Filters<Item> = Filters::of(&[
    ("create-time", Of(|item, _| one(moment(item.version.created)))),
    ("image-id", Of(|item, _| maybe(item.version.data.0.get("ImageId")))),
    ("instance-type", Of(|item, _| maybe(item.version.data.0.get("InstanceType")))),
    ("is-default-version", Of(|item, _| one(item.version.number == item.template.default_version))),
]);

impl Action for DescribeLaunchTemplateVersions {
    const NAME: &'static str = "DescribeLaunchTemplateVersions";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<VersionView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<VersionView>> {
        let wanted = &request.launch_template_version;
        let mut items = Vec::new();
        for template in templates(&request, call)? {
            let numbers: Vec<u64> = if wanted.is_empty() {
                let in_range = |number: &u64| {
                    request.min_version.is_none_or(|least| *number >= least)
                        && request.max_version.is_none_or(|most| *number <= most)
                };
                template.versions.iter().map(|version| version.number).filter(in_range).collect()
            } else {
                let found = wanted.iter().map(|text| Ok(find_version(&template, text)?.number));
                found.collect::<ApiResult<_>>()?
            };
            let versions = numbers.iter().filter_map(|number| template.version(*number));
            items.extend(versions.map(|version| Item {
                key: format!("{} {:020}", template.id, version.number),
                template: Arc::clone(&template),
                version: version.clone(),
            }));
        }
        items.sort_by(|a, b| a.key.cmp(&b.key));
        items.dedup_by(|a, b| a.key == b.key);
        let page = call.select_from(items.into_iter().map(Box::new), &FILTERS)?;
        let view = |item: &Item| version(&item.template, &item.version, call.account);
        Ok(page.listing("launchTemplateVersionSet", view))
    }
}

fn templates(request: &Request, call: &Call<'_>) -> ApiResult<Vec<Arc<LaunchTemplate>>> {
    let all = &call.account.launch_templates;
    if request.launch_template_id.is_none() && request.launch_template_name.is_none() {
        let relative = |text: &String| text.starts_with('$');
        if request.launch_template_version.iter().all(relative) && !request.launch_template_version.is_empty()
        {
            return Ok(all.iter_shared(None).collect());
        }
    }
    let name = TemplateName::new(request.launch_template_id.clone(), request.launch_template_name.clone());
    let id = &name.find(call.account)?.id;
    Ok(all.shared(id).into_iter().collect())
}
