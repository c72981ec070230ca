//! Lists volumes.

use super::prelude::*;
use crate::core::environment::zone_id;
use crate::model::volume::Volume;
use crate::view;
use crate::view::volume::VolumeView;

pub struct DescribeVolumes;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    volume_id: Vec<String>,
}

pub(super) static FILTERS: Filters<Volume> = Filters::of(&[(
    "availability-zone-id",
    Through(
        |volume, _| one(zone_id(&volume.availability_zone)),
        |call, pattern| call.found_in_zone(Volume::BY_ZONE, pattern),
    ),
)]);

impl Action for DescribeVolumes {
    const NAME: &'static str = "DescribeVolumes";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<VolumeView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<VolumeView>> {
        let page = call.select(&call.account.volumes, &request.volume_id, &FILTERS)?;
        Ok(page.listing("volumeSet", view::volume::volume))
    }
}
