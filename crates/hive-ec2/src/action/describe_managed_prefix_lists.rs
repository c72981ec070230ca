//! Lists prefix lists as they are managed: those of services, which are AWS's own.

use super::prelude::*;
use crate::core::table::{Listed, TagFilters};
use crate::data::endpoint_services;

pub struct DescribeManagedPrefixLists;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    prefix_list_id: Vec<String>,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
pub struct ManagedListView {
    prefix_list_id: &'static str,
    prefix_list_name: String,
    prefix_list_arn: String,
    address_family: &'static str,
    state: &'static str,
    owner_id: &'static str,
}

impl Listed for ManagedListView {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        self.prefix_list_id
    }
}

static FILTERS: Filters<ManagedListView> = Filters::of(&[
    ("owner-id", Of(|list, _| one(list.owner_id))),
    ("prefix-list-id", Of(|list, _| one(list.prefix_list_id))),
    ("prefix-list-name", Of(|list, _| one(&list.prefix_list_name))),
]);

impl Action for DescribeManagedPrefixLists {
    const NAME: &'static str = "DescribeManagedPrefixLists";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<ManagedListView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<ManagedListView>> {
        let region = &call.environment.region;
        let wanted = &request.prefix_list_id;
        if let Some(unknown) = wanted.iter().find(|id| endpoint_services::prefix_list_by_id(id).is_none()) {
            return Err(endpoint_services::MANAGED_PREFIX_LIST_KIND.missing(unknown));
        }
        let mut lists = Vec::new();
        for service in endpoint_services::all(region) {
            let Some(list) = service.prefix_list else { continue };
            if wanted.is_empty() || wanted.iter().any(|id| id == list.id) {
                lists.push(Box::new(ManagedListView {
                    prefix_list_id: list.id,
                    prefix_list_name: service.name,
                    prefix_list_arn: format!("arn:aws:ec2:{region}:aws:prefix-list/{}", list.id),
                    address_family: "IPv4",
                    state: "create-complete",
                    owner_id: "AWS",
                }));
            }
        }
        lists.sort_by_key(|list| list.prefix_list_id);
        let page = call.select_from(lists.into_iter(), &FILTERS)?;
        Ok(page.listing("prefixListSet", ManagedListView::clone))
    }
}
