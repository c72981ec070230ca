//! The last modification of each volume that had one.

use super::prelude::*;
use crate::model::volume::Volume;
use crate::view;
use crate::view::volume::ModificationView;

pub struct DescribeVolumesModifications;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    volume_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    volume_modification_set: Vec<ModificationView>,
    next_token: Option<String>,
}

static FILTERS: Filters<Volume> =
    Filters::only(&["volume-id"], &[("modification-state", Same(|_| "completed".to_owned()))]);

impl Action for DescribeVolumesModifications {
    const NAME: &'static str = "DescribeVolumesModifications";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        for id in &request.volume_id {
            let volume = call.account.volumes.find(id)?;
            if volume.modification.is_none() {
                return Err(ApiError::client(
                    "InvalidVolumeModification.NotFound",
                    format!("Modification for volume '{id}' does not exist."),
                ));
            }
        }
        let page = call.select(&call.account.volumes, &request.volume_id, &FILTERS)?;
        let changed = page
            .items
            .iter()
            .filter_map(|volume| Some(view::volume::modification(volume.modification.as_ref()?, &volume.id)));
        Ok(Response { volume_modification_set: changed.collect(), next_token: page.next_token })
    }
}
