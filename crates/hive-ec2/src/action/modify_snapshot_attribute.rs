//! Sets who may make volumes of a snapshot.

use super::prelude::*;
use crate::rules::sharing::{Asked, Operation, Permissions};
use crate::rules::{devices, snapshots};

pub struct ModifySnapshotAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    snapshot_id: String,
    attribute: Option<String>,
    create_volume_permission: Option<Permissions>,
    operation_type: Option<Operation>,
    #[serde(default)]
    user_id: Vec<String>,
    #[serde(default)]
    user_group: Vec<String>,
}

impl Action for ModifySnapshotAttribute {
    const NAME: &'static str = "ModifySnapshotAttribute";
    const REFUSED_VALUES: &'static [&'static str] = &["Attribute=productCodes"];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let snapshot = snapshots::find_own(call, &request.snapshot_id)?;
        if let Some(name) = request.attribute.as_deref().filter(|name| *name != "createVolumePermission") {
            return Err(ApiError::invalid_value("Attribute", name, "It cannot be changed."));
        }
        let asked = Asked {
            permissions: request.create_volume_permission,
            operation: request.operation_type,
            users: request.user_id,
            groups: request.user_group,
        };
        if asked.says_nothing() {
            return Err(ApiError::missing_parameter("createVolumePermission"));
        }
        // Nobody else has the key.
        if asked.adds() && snapshot.kms_key_id.as_deref() == Some(&devices::default_key(call)) {
            return Err(ApiError::client(
                "OperationNotPermitted",
                "Encrypted snapshots with EBS default key cannot be shared",
            ));
        }
        let id = snapshot.id.clone();
        let snapshot = call.account.snapshots.edit(&id)?;
        asked.apply(&mut snapshot.public, &mut snapshot.users, "InvalidParameterValue")?;
        Done::ok()
    }
}
