//! Every tag of every resource.

use super::prelude::*;
use crate::core::table::{Listed, TagFilters};
use crate::core::tags::Tags;

pub struct DescribeTags;

#[derive(Deserialize)]
pub struct Request {}

static FILTERS: Filters<TagItem> = Filters::of(&[
    ("key", Of(|tag, _| one(&tag.name))),
    ("resource-id", Of(|tag, _| one(&tag.resource_id))),
    ("resource-type", Of(|tag, _| one(tag.resource_type))),
    ("value", Of(|tag, _| one(&tag.value))),
]);

impl Action for DescribeTags {
    const NAME: &'static str = "DescribeTags";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<TagItemView>;

    fn run(_request: Request, call: &mut Call<'_>) -> ApiResult<Listing<TagItemView>> {
        let mut items = Vec::new();
        let mut list = |kind: &'static str, id: &str, tags: &Tags| {
            items.extend(tags.iter().map(|(key, value)| TagItem {
                sort: format!("{id}\n{key}"),
                resource_type: kind,
                resource_id: id.to_owned(),
                name: key.to_owned(),
                value: value.to_owned(),
            }));
        };
        match call.exact_filter("resource-id") {
            Some(ids) => ids.iter().for_each(|id| {
                if let Some((kind, tags)) = call.account.tags_of(id) {
                    list(kind, id, tags);
                }
            }),
            None => {
                let filters = &call.common.filters;
                let filter = filters.iter().find_map(|filter| match filter.name.as_str() {
                    "key" => Some(("tag-key", filter.value.as_slice())),
                    "value" => Some(("tag-value", filter.value.as_slice())),
                    name if name.starts_with("tag:") => Some((name, filter.value.as_slice())),
                    _ => None,
                });
                let mut types = filters.iter().filter(|filter| filter.name == "resource-type");
                let types = types.next().map(|filter| &filter.value);
                let wanted = |kind: &str| types.is_none_or(|types| types.iter().any(|t| matches(t, kind)));
                call.account.each_tagged(wanted, filter, list);
            }
        }
        items.sort_by(|a, b| a.sort.cmp(&b.sort));
        items.dedup_by(|a, b| a.sort == b.sort);
        let page = call.select_from(items.into_iter().map(Box::new), &FILTERS)?;
        let view = |item: &TagItem| TagItemView {
            resource_id: item.resource_id.clone(),
            resource_type: item.resource_type,
            key: item.name.clone(),
            value: item.value.clone(),
        };
        Ok(page.listing("tagSet", view))
    }
}

struct TagItem {
    sort: String,
    resource_type: &'static str,
    resource_id: String,
    name: String,
    value: String,
}

impl Listed for TagItem {
    const TAG_FILTERS: TagFilters = TagFilters::ByKey;

    fn key(&self) -> &str {
        &self.sort
    }

    fn tag(&self, key: &str) -> Option<&str> {
        (self.name == key).then_some(&self.value)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TagItemView {
    resource_id: String,
    resource_type: &'static str,
    key: String,
    value: String,
}
