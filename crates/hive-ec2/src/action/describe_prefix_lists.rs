//! Lists the address blocks of services that are reached by routes.

use super::prelude::*;
use crate::core::table::{Listed, TagFilters};
use crate::data::endpoint_services;

pub struct DescribePrefixLists;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    prefix_list_id: Vec<String>,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
pub struct PrefixListView {
    prefix_list_id: &'static str,
    prefix_list_name: String,
    cidr_set: Vec<&'static str>,
}

impl Listed for PrefixListView {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        self.prefix_list_id
    }
}

static FILTERS: Filters<PrefixListView> = Filters::of(&[
    ("prefix-list-id", Of(|list, _| one(list.prefix_list_id))),
    ("prefix-list-name", Of(|list, _| one(&list.prefix_list_name))),
]);

impl Action for DescribePrefixLists {
    const NAME: &'static str = "DescribePrefixLists";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<PrefixListView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<PrefixListView>> {
        let services = endpoint_services::all(&call.environment.region);
        let mut lists: Vec<PrefixListView> = services
            .into_iter()
            .filter_map(|service| {
                let list = service.prefix_list?;
                Some(PrefixListView {
                    prefix_list_id: list.id,
                    prefix_list_name: service.name,
                    cidr_set: vec![list.cidr],
                })
            })
            .collect();
        lists.sort_by_key(|list| list.prefix_list_id);
        let wanted = &request.prefix_list_id;
        if let Some(unknown) = wanted.iter().find(|id| !lists.iter().any(|list| list.prefix_list_id == **id))
        {
            return Err(endpoint_services::PREFIX_LIST_KIND.missing(unknown));
        }
        lists.retain(|list| wanted.is_empty() || wanted.iter().any(|id| id == list.prefix_list_id));
        let page = call.select_from(lists.into_iter().map(Box::new), &FILTERS)?;
        Ok(page.listing("prefixListSet", PrefixListView::clone))
    }
}
