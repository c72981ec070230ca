//! Lists volumes.

use super::prelude::*;
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

static FILTERS: Filters<Volume> = Filters::of(&[]);

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
