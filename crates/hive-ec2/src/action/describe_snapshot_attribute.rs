//! One attribute of a snapshot of the account.

use super::prelude::*;
use crate::rules::snapshots;
use crate::view::{NoProductCode, PermissionView, permissions};

pub struct DescribeSnapshotAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    snapshot_id: String,
    attribute: Attribute,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Attribute {
    CreateVolumePermission,
    ProductCodes,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    snapshot_id: String,
    create_volume_permission: Option<Vec<PermissionView>>,
    product_codes: Option<Vec<NoProductCode>>,
}

impl Action for DescribeSnapshotAttribute {
    const NAME: &'static str = "DescribeSnapshotAttribute";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let snapshot = snapshots::find_own(call, &request.snapshot_id)?;
        let (create_volume_permission, product_codes) = match request.attribute {
            Attribute::CreateVolumePermission => (Some(permissions(snapshot.public, &snapshot.users)), None),
            Attribute::ProductCodes => (None, Some(Vec::new())),
        };
        Ok(Response { snapshot_id: snapshot.id.to_string(), create_volume_permission, product_codes })
    }
}
