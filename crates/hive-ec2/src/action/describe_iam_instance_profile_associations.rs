//! Lists which instances have which profile.

use super::prelude::*;
use std::sync::Arc;

use crate::core::table::{Listed, TagFilters};
use crate::model::instance::{Instance, InstanceState};
use crate::rules::instance_profiles::{self, AssociationView};

pub struct DescribeIamInstanceProfileAssociations;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    association_id: Vec<String>,
}

struct Item {
    id: String,
    instance: Arc<Instance>,
}

impl Listed for Item {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        &self.id
    }
}

static FILTERS: Filters<Item> = Filters::of(&[
    ("instance-id", Of(|item, _| one(&item.instance.id))),
    ("state", Same(|_| "associated".to_owned())),
]);

impl Action for DescribeIamInstanceProfileAssociations {
    const NAME: &'static str = "DescribeIamInstanceProfileAssociations";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<AssociationView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<AssociationView>> {
        let ids = &request.association_id;
        let all = &call.account.instances;
        let mut instances: Vec<Arc<Instance>> = Vec::new();
        for id in ids {
            instances.extend(all.shared(&instance_profiles::find(call.account, id)?.id));
        }
        if ids.is_empty() {
            match call.exact_filter("instance-id") {
                Some(named) => instances.extend(named.iter().filter_map(|id| all.shared(id))),
                None => instances.extend(all.narrowed(Some(Instance::BY_PROFILE_ASSOCIATION.all()))),
            }
        }
        let items = instances.into_iter().filter(|i| i.state != InstanceState::Terminated);
        let mut items: Vec<Box<Item>> = items
            .filter_map(|instance| {
                Some(Box::new(Item { id: instance.profile_association_id.clone()?, instance }))
            })
            .collect();
        items.sort_by(|a, b| a.id.cmp(&b.id));
        items.dedup_by(|a, b| a.id == b.id);
        let page = call.select_from(items.into_iter(), &FILTERS)?;
        Ok(page.listing_some("iamInstanceProfileAssociationSet", |item| {
            instance_profiles::view(&item.instance, "associated")
        }))
    }
}
