//! The key that volumes are encrypted with unless another is named.

use super::prelude::*;
use crate::rules::devices;

pub struct GetEbsDefaultKmsKeyId;

#[derive(Deserialize)]
pub struct Request {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    kms_key_id: String,
}

impl Action for GetEbsDefaultKmsKeyId {
    const NAME: &'static str = "GetEbsDefaultKmsKeyId";
    type Request = Request;
    type Response = Response;

    fn run(_request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        Ok(Response { kms_key_id: devices::default_key(call) })
    }
}
