//! Takes an image of the account away; its snapshots stay unless said otherwise.

use super::prelude::*;
use crate::model::departed::Departed;
use crate::model::image::Image;
use crate::rules::images;

pub struct DeregisterImage;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    image_id: String,
    #[serde(default)]
    delete_associated_snapshots: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    #[serde(rename = "return")]
    done: bool,
    delete_snapshot_result_set: Vec<ResultView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultView {
    snapshot_id: String,
    return_code: &'static str,
}

impl Action for DeregisterImage {
    const NAME: &'static str = "DeregisterImage";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let image = images::find_own(call, &request.image_id)?.clone();
        call.depart(Departed::Image(image.id.clone()));
        let mut results = Vec::new();
        let volumes = image.devices.iter().filter_map(|device| device.volume.as_ref());
        for id in volumes.filter_map(|volume| volume.snapshot_id.as_ref()) {
            if !request.delete_associated_snapshots || call.account.snapshots.get(id).is_none() {
                continue;
            }
            let shared = call.account.images.with(Image::BY_SNAPSHOT, id).next().is_some();
            if !shared {
                call.depart(Departed::Snapshot(id.clone()));
            }
            let return_code = if shared { "skipped" } else { "success" };
            results.push(ResultView { snapshot_id: id.to_string(), return_code });
        }
        Ok(Response { done: true, delete_snapshot_result_set: results })
    }
}
