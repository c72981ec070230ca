//! Makes a placement group.

use super::describe_placement_groups::{self, PlacementGroupView};
use super::prelude::*;
use crate::model::placement_group::{PlacementGroup, SpreadLevel, Strategy};

pub struct CreatePlacementGroup;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    group_name: Option<String>,
    strategy: Option<Strategy>,
    partition_count: Option<u32>,
    spread_level: Option<SpreadLevel>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    #[serde(rename = "return")]
    done: bool,
    placement_group: PlacementGroupView,
}

impl Action for CreatePlacementGroup {
    const NAME: &'static str = "CreatePlacementGroup";
    const ACCEPTS: Accepts = Accepts { tags: &["placement-group"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let name = request
            .group_name
            .filter(|name| !name.is_empty())
            .ok_or_else(|| ApiError::missing_parameter("groupName"))?;
        if name.len() > 255 || !name.is_ascii() {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "The name of a placement group has at most 255 ASCII characters",
            ));
        }
        let strategy = request.strategy.unwrap_or(Strategy::Cluster);
        if call.account.placement_groups.with(PlacementGroup::BY_NAME, &name).next().is_some() {
            return Err(ApiError::client(
                "InvalidPlacementGroup.Duplicate",
                format!("The Placement Group '{name}' already exists."),
            ));
        }
        if request.partition_count.is_some() && strategy != Strategy::Partition {
            return Err(ApiError::invalid_combination("PartitionCount is only for the strategy partition"));
        }
        if request.partition_count.is_some_and(|count| !(1..=7).contains(&count)) {
            return Err(ApiError::client("InvalidParameterValue", "PartitionCount must be between 1 and 7"));
        }
        if request.spread_level.is_some() && strategy != Strategy::Spread {
            return Err(ApiError::invalid_combination("SpreadLevel is only for the strategy spread"));
        }
        let group = PlacementGroup {
            id: call.new_id(),
            name,
            strategy,
            partition_count: (strategy == Strategy::Partition).then(|| request.partition_count.unwrap_or(2)),
            spread_level: (strategy == Strategy::Spread)
                .then(|| request.spread_level.unwrap_or(SpreadLevel::Rack)),
            tags: call.new_tags::<PlacementGroup>(),
        };
        let view = describe_placement_groups::view(&group, call);
        call.account.placement_groups.insert(group);
        Ok(Response { done: true, placement_group: view })
    }
}
