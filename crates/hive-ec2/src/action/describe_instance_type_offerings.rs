//! Where instance types are offered: everywhere here.

use super::prelude::*;
use crate::core::environment::zone_id;
use crate::core::table::{Listed, TagFilters};
use crate::data::instance_types;

pub struct DescribeInstanceTypeOfferings;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    location_type: Option<LocationType>,
}

static FILTERS: Filters<Offering> = Filters::of(&[
    ("instance-type", Of(|offering, _| one(offering.instance_type))),
    ("location", Of(|offering, _| one(&offering.location))),
]);

impl Action for DescribeInstanceTypeOfferings {
    const NAME: &'static str = "DescribeInstanceTypeOfferings";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<OfferingView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<OfferingView>> {
        let environment = call.environment;
        let location_type = request.location_type.unwrap_or(LocationType::Region);
        let locations: Vec<String> = match location_type {
            LocationType::Region => vec![environment.region.clone()],
            LocationType::AvailabilityZone => environment.zone_names().collect(),
            LocationType::AvailabilityZoneId => environment.zone_names().map(|zone| zone_id(&zone)).collect(),
        };
        let mut offerings = Vec::new();
        for kind in instance_types::all() {
            for location in &locations {
                offerings.push(Box::new(Offering {
                    key: format!("{}/{location}", kind.name),
                    instance_type: kind.name,
                    location: location.clone(),
                }));
            }
        }
        offerings.sort_by(|a, b| a.key.cmp(&b.key));
        let page = call.select_from(offerings.into_iter(), &FILTERS)?;
        let view = |offering: &Offering| OfferingView {
            instance_type: offering.instance_type,
            location_type,
            location: offering.location.clone(),
        };
        Ok(page.listing("instanceTypeOfferingSet", view))
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LocationType {
    Region,
    AvailabilityZone,
    AvailabilityZoneId,
}

struct Offering {
    key: String,
    instance_type: &'static str,
    location: String,
}

impl Listed for Offering {
    const TAG_FILTERS: TagFilters = TagFilters::None;

    fn key(&self) -> &str {
        &self.key
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfferingView {
    instance_type: &'static str,
    location_type: LocationType,
    location: String,
}
