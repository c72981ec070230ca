//! Lists the address blocks of a prefix list; those of services have one version only.

use super::prelude::*;
use crate::core::table::{Listed, TagFilters};
use crate::data::endpoint_services;

pub struct GetManagedPrefixListEntries;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    prefix_list_id: String,
}

#[derive(Serialize, Clone)]
pub struct EntryView {
    cidr: &'static str,
}

impl Listed for EntryView {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        self.cidr
    }
}

static FILTERS: Filters<EntryView> = Filters::of(&[]);

impl Action for GetManagedPrefixListEntries {
    const NAME: &'static str = "GetManagedPrefixListEntries";
    const ACCEPTS: Accepts = Accepts { pages: true, ..Accepts::NONE };
    type Request = Request;
    type Response = Listing<EntryView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<EntryView>> {
        let id = &request.prefix_list_id;
        let list = endpoint_services::prefix_list_by_id(id)
            .ok_or_else(|| endpoint_services::MANAGED_PREFIX_LIST_KIND.missing(id))?;
        let entries = [Box::new(EntryView { cidr: list.cidr })];
        let page = call.select_from(entries.into_iter(), &FILTERS)?;
        Ok(page.listing("entrySet", EntryView::clone))
    }
}
