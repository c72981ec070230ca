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

static FILTERS: Filters<Volume> = Filters::<Volume>::only(
    &["volume-id"],
    &[(
        "modification-state",
        Through(
            |volume, _| maybe(volume.modification.as_ref().map(|change| change.state.name())),
            |_, pattern| Volume::BY_MODIFICATION.found(pattern),
        ),
    )],
)
.shown("DescribeVolumesModifications", |volume, _| {
    shown(volume.modification.as_ref().map(|change| view::volume::modification(change, &volume.id)))
});

impl Action for DescribeVolumesModifications {
    const NAME: &'static str = "DescribeVolumesModifications";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<ModificationView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<ModificationView>> {
        for id in &request.volume_id {
            let volume = call.account.volumes.find(id)?;
            if volume.modification.is_none() {
                return Err(ApiError::client(
                    "InvalidVolumeModification.NotFound",
                    format!("Modification for volume '{id}' does not exist."),
                ));
            }
        }
        let changed = |volume: &Volume| volume.modification.is_some();
        let (volumes, within) = (&call.account.volumes, Volume::BY_MODIFICATION.all());
        let page = call.select_within(volumes, within, &request.volume_id, &FILTERS, changed)?;
        Ok(page.listing_some("volumeModificationSet", |volume| {
            Some(view::volume::modification(volume.modification.as_ref()?, &volume.id))
        }))
    }
}
