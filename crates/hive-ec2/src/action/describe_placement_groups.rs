//! Lists placement groups.

use super::prelude::*;
use crate::model::placement_group::{PlacementGroup, SpreadLevel, Strategy};
use crate::rules::placement;
use crate::view::{TagView, tags};

pub struct DescribePlacementGroups;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    group_name: Vec<String>,
    #[serde(default)]
    group_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    placement_group_set: Vec<PlacementGroupView>,
}

static FILTERS: Filters<PlacementGroup> = Filters::of(&[("state", Same(|_| "available".to_owned()))])
    .shown("DescribePlacementGroups", |group, call| shown(view(group, call)))
    .narrowed(|call, name, pattern| match name {
        "group-arn" => {
            call.found_by_arn("placement-group", pattern, |name| PlacementGroup::BY_NAME.found(name))
        }
        _ => None,
    });

impl Action for DescribePlacementGroups {
    const NAME: &'static str = "DescribePlacementGroups";
    const ACCEPTS: Accepts = Accepts::filters(|| FILTERS.names());
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut ids = request.group_id;
        for name in &request.group_name {
            ids.push(placement::by_name(call.account, name)?.id.to_string());
        }
        let page = call.select(&call.account.placement_groups, &ids, &FILTERS)?;
        Ok(Response { placement_group_set: page.items.iter().map(|group| view(group, call)).collect() })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacementGroupView {
    group_id: String,
    group_name: String,
    group_arn: String,
    state: &'static str,
    strategy: Strategy,
    partition_count: Option<u32>,
    spread_level: Option<SpreadLevel>,
    tag_set: Vec<TagView>,
}

pub fn view(group: &PlacementGroup, call: &Call<'_>) -> PlacementGroupView {
    PlacementGroupView {
        group_id: group.id.to_string(),
        group_name: group.name.clone(),
        group_arn: call.arn(&format!("placement-group/{}", group.name)),
        state: "available",
        strategy: group.strategy,
        partition_count: group.partition_count,
        spread_level: group.spread_level,
        tag_set: tags(&group.tags),
    }
}
