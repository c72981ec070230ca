//! Whether volumes are well. A record has nothing that could be impaired.

use super::prelude::*;
use crate::model::volume::Volume;

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
        Ok(page.listing("volumeStatusSet", |volume| StatusItem {
            volume_id: volume.id.to_string(),
            availability_zone: volume.availability_zone.clone(),
            volume_status: Status { status: status(volume.status()) },
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusItem {
    volume_id: String,
    availability_zone: String,
    volume_status: Status,
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
}
