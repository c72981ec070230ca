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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    volume_set: Vec<VolumeView>,
    next_token: Option<String>,
}

static FILTERS: Filters<Volume> = Filters::of(&[]);

impl Action for DescribeVolumes {
    const NAME: &'static str = "DescribeVolumes";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.volumes, &request.volume_id, &FILTERS)?;
        Ok(Response {
            volume_set: page.items.iter().map(|volume| view::volume::volume(volume, call)).collect(),
            next_token: page.next_token,
        })
    }
}
