//! Where instance types are offered: everywhere here.

use super::prelude::*;
use crate::core::table::Listed;
use crate::data::instance_types;

pub struct DescribeInstanceTypeOfferings;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    location_type: Option<LocationType>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_type_offering_set: Vec<OfferingView>,
    next_token: Option<String>,
}

static FILTERS: Filters<Offering> = Filters::of(&[
    ("instance-type", Of(|offering, _| one(offering.instance_type))),
    ("location", Of(|offering, _| one(&offering.location))),
]);

impl Action for DescribeInstanceTypeOfferings {
    const NAME: &'static str = "DescribeInstanceTypeOfferings";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let environment = call.environment;
        let location_type = request.location_type.unwrap_or(LocationType::Region);
        let locations: Vec<String> = match location_type {
            LocationType::Region => vec![environment.region.clone()],
            LocationType::AvailabilityZone => environment.zone_names().collect(),
            LocationType::AvailabilityZoneId => {
                environment.zone_names().map(|zone| environment.zone_id(&zone)).collect()
            }
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
        Ok(Response {
            instance_type_offering_set: page.items.iter().map(|offering| view(offering)).collect(),
            next_token: page.next_token,
        })
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
    fn key(&self) -> &str {
        &self.key
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfferingView {
    instance_type: &'static str,
    location_type: LocationType,
    location: String,
}
