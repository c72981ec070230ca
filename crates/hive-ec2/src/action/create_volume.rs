//! Makes a volume in a zone, empty or from a snapshot.

use super::prelude::*;
use crate::model::volume::{Volume, VolumeType};
use crate::rules::devices::{self, NewVolume};
use crate::view;
use crate::view::volume::VolumeView;

pub struct CreateVolume;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    availability_zone: Option<String>,
    availability_zone_id: Option<String>,
    size: Option<u32>,
    snapshot_id: Option<String>,
    volume_type: Option<VolumeType>,
    iops: Option<u32>,
    throughput: Option<u32>,
    encrypted: Option<bool>,
    kms_key_id: Option<String>,
    #[serde(default)]
    multi_attach_enabled: bool,
}

impl Action for CreateVolume {
    const NAME: &'static str = "CreateVolume";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["volume"], ..Accepts::NONE };
    type Request = Request;
    type Response = VolumeView;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<VolumeView> {
        let (name, zone_id) = (request.availability_zone.as_deref(), request.availability_zone_id.as_deref());
        call.environment.check_zone(name, zone_id)?;
        let zone = match (request.availability_zone, request.availability_zone_id) {
            (Some(zone), _) => zone,
            (None, Some(id)) => call.environment.zone_by_id(&id).ok_or_else(|| {
                ApiError::client("InvalidZone.NotFound", format!("The zone '{id}' does not exist."))
            })?,
            (None, None) => return Err(ApiError::missing_parameter("availabilityZone")),
        };
        let new = NewVolume {
            size: request.size,
            volume_type: request.volume_type,
            iops: request.iops,
            throughput: request.throughput,
            encrypted: request.encrypted,
            kms_key_id: request.kms_key_id,
            multi_attach_enabled: request.multi_attach_enabled,
            snapshot_id: request.snapshot_id.filter(|id| !id.is_empty()),
            is_of_image: false,
            tags: call.new_tags::<Volume>(),
        };
        let id = devices::create_volume(call, &zone, new)?;
        Ok(view::volume::volume(call.account.volumes.find(&id)?))
    }
}
