//! Whether volumes are well. A record has nothing that could be impaired.

use super::prelude::*;
use crate::core::environment::zone_id;
use crate::model::volume::{Volume, VolumeType};

pub struct DescribeVolumeStatus;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    volume_id: Vec<String>,
}

static FILTERS: Filters<Volume> = Filters::only(
    &["availability-zone", "volume-id"],
    &[(
        "volume-status.status",
        Through(
            |volume, _| one(status(volume.status())),
            |_, pattern| {
                let states = Volume::STATUSES.into_iter().filter(|state| matches(pattern, status(state)));
                Volume::BY_STATUS.found_any(states)
            },
        ),
    )],
);

/// How it does, by what it is doing.
fn status(state: &str) -> &'static str {
    if matches!(state, "available" | "in-use") { "ok" } else { "insufficient-data" }
}

impl Action for DescribeVolumeStatus {
    const NAME: &'static str = "DescribeVolumeStatus";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<StatusItem>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<StatusItem>> {
        let page = call.select(&call.account.volumes, &request.volume_id, &FILTERS)?;
        Ok(page.listing("volumeStatusSet", item))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusItem {
    volume_id: String,
    availability_zone: String,
    availability_zone_id: String,
    volume_status: Status,
    /// Nothing ever happens to a record, and nothing has to be done about it.
    actions_set: Vec<String>,
    events_set: Vec<String>,
}

fn item(volume: &Volume) -> StatusItem {
    StatusItem {
        volume_id: volume.id.to_string(),
        availability_zone: volume.availability_zone.clone(),
        availability_zone_id: zone_id(&volume.availability_zone),
        volume_status: Status { status: status(volume.status()), details: details(volume) },
        actions_set: Vec::new(),
        events_set: Vec::new(),
    }
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
    details: Vec<Detail>,
}

#[derive(Serialize)]
struct Detail {
    name: &'static str,
    status: &'static str,
}

/// Only of volumes that are promised a speed EC2 says whether they have it.
fn details(volume: &Volume) -> Vec<Detail> {
    if status(volume.status()) != "ok" {
        return Vec::new();
    }
    let promised = matches!(volume.volume_type, VolumeType::Gp3 | VolumeType::Io1 | VolumeType::Io2);
    let speed = if promised { "normal" } else { "not-applicable" };
    vec![Detail { name: "io-enabled", status: "passed" }, Detail { name: "io-performance", status: speed }]
}
