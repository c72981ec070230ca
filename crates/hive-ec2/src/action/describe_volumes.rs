//! Lists volumes.

use super::prelude::*;
use crate::core::text::moment;
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

static FILTERS: &[FilterRow<Volume>] = &[
    ("attachment.delete-on-termination", |volume, _| {
        volume.attachments.iter().map(|a| a.delete_on_termination.to_string()).collect()
    }),
    ("attachment.device", |volume, _| volume.attachments.iter().map(|a| a.device.clone()).collect()),
    ("attachment.instance-id", |volume, _| {
        volume.attachments.iter().map(|a| a.instance_id.to_string()).collect()
    }),
    ("attachment.status", |volume, _| {
        volume.attachments.iter().map(|a| format!("{:?}", a.state).to_lowercase()).collect()
    }),
    ("availability-zone", |volume, _| one(&volume.availability_zone)),
    ("create-time", |volume, _| vec![moment(volume.created)]),
    ("encrypted", |volume, _| one(volume.encrypted)),
    ("multi-attach-enabled", |volume, _| one(volume.multi_attach_enabled)),
    ("size", |volume, _| one(volume.size)),
    ("snapshot-id", |volume, _| maybe(volume.snapshot_id.as_ref())),
    ("status", |volume, _| one(volume.status())),
    ("volume-id", |volume, _| one(&volume.id)),
    ("volume-type", |volume, _| vec![format!("{:?}", volume.volume_type).to_lowercase()]),
];

impl Action for DescribeVolumes {
    const NAME: &'static str = "DescribeVolumes";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.volumes, &request.volume_id, FILTERS)?;
        Ok(Response {
            volume_set: page.items.iter().map(|volume| view::volume::volume(volume, call)).collect(),
            next_token: page.next_token,
        })
    }
}
