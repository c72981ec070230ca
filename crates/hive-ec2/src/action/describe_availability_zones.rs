//! The zones of the region.

use super::prelude::*;
use crate::core::environment::zone_id;
use crate::core::table::{Listed, TagFilters};

pub struct DescribeAvailabilityZones;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    zone_name: Vec<String>,
    #[serde(default)]
    zone_id: Vec<String>,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    all_availability_zones: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    availability_zone_info: Vec<ZoneView>,
}

static FILTERS: Filters<Zone> = Filters::of(&[
    ("group-name", Of(|zone, _| vec![format!("{}-zg-1", zone.region)])),
    ("opt-in-status", Same(|_| "opt-in-not-required".to_owned())),
    ("region-name", Of(|zone, _| one(&zone.region))),
    ("state", Same(|_| "available".to_owned())),
    ("zone-id", Of(|zone, _| one(&zone.id))),
    ("zone-name", Of(|zone, _| one(&zone.name))),
    ("zone-type", Same(|_| "availability-zone".to_owned())),
]);

impl Action for DescribeAvailabilityZones {
    const NAME: &'static str = "DescribeAvailabilityZones";
    const ACCEPTS: Accepts = Accepts::filters(|| FILTERS.names());
    const WITHOUT_EFFECT: &'static [&'static str] = &["AllAvailabilityZones"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let environment = call.environment;
        let zones: Vec<Zone> = environment
            .zone_names()
            .map(|name| Zone { id: zone_id(&name), name, region: environment.region.clone() })
            .collect();
        for wanted in &request.zone_name {
            if !zones.iter().any(|zone| zone.name == *wanted) {
                return Err(ApiError::invalid_value("ZoneName", wanted, "It is not a zone of this region."));
            }
        }
        for wanted in &request.zone_id {
            if !zones.iter().any(|zone| zone.id == *wanted) {
                return Err(ApiError::invalid_value("ZoneId", wanted, "It is not a zone of this region."));
            }
        }
        let listed = |zone: &Zone| {
            (request.zone_name.is_empty() || request.zone_name.contains(&zone.name))
                && (request.zone_id.is_empty() || request.zone_id.contains(&zone.id))
        };
        let page = call.select_from(zones.into_iter().filter(listed).map(Box::new), &FILTERS)?;
        Ok(Response { availability_zone_info: page.items.iter().map(|zone| view(zone)).collect() })
    }
}

struct Zone {
    name: String,
    id: String,
    region: String,
}

impl Listed for Zone {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        &self.name
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ZoneView {
    zone_name: String,
    zone_id: String,
    zone_state: &'static str,
    zone_type: &'static str,
    region_name: String,
    group_name: String,
    network_border_group: String,
    opt_in_status: &'static str,
    message_set: Vec<String>,
}

fn view(zone: &Zone) -> ZoneView {
    ZoneView {
        zone_name: zone.name.clone(),
        zone_id: zone.id.clone(),
        zone_state: "available",
        zone_type: "availability-zone",
        region_name: zone.region.clone(),
        group_name: format!("{}-zg-1", zone.region),
        network_border_group: zone.region.clone(),
        opt_in_status: "opt-in-not-required",
        message_set: Vec::new(),
    }
}
