//! The one region that this endpoint is.

use super::prelude::*;
use crate::core::table::{Listed, TagFilters};

pub struct DescribeRegions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    region_name: Vec<String>,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    all_regions: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    region_info: Vec<RegionView>,
}

static FILTERS: Filters<RegionItem> = Filters::of(&[
    ("endpoint", Of(|region, _| vec![format!("ec2.{}.amazonaws.com", region.name)])),
    ("opt-in-status", Same(|_| "opt-in-not-required".to_owned())),
    ("region-name", Of(|region, _| one(&region.name))),
]);

impl Action for DescribeRegions {
    const NAME: &'static str = "DescribeRegions";
    const ACCEPTS: Accepts = Accepts::filters(|| FILTERS.names());
    const WITHOUT_EFFECT: &'static [&'static str] = &["AllRegions"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let own = RegionItem { name: call.environment.region.clone() };
        if let Some(other) = request.region_name.iter().find(|name| **name != own.name) {
            return Err(ApiError::invalid_value("region", other, "It is not a region of this endpoint."));
        }
        let page = call.select_from([Box::new(own)].into_iter(), &FILTERS)?;
        let view = |region: &RegionItem| RegionView {
            region_name: region.name.clone(),
            region_endpoint: format!("ec2.{}.amazonaws.com", region.name),
            opt_in_status: "opt-in-not-required",
        };
        Ok(Response { region_info: page.items.iter().map(|region| view(region)).collect() })
    }
}

struct RegionItem {
    name: String,
}

impl Listed for RegionItem {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        &self.name
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RegionView {
    region_name: String,
    region_endpoint: String,
    opt_in_status: &'static str,
}
