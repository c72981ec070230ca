//! Whether new volumes are encrypted unless asked otherwise.

use super::prelude::*;
use crate::rules::devices;

pub struct GetEbsEncryptionByDefault;

#[derive(Deserialize)]
pub struct Request {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    ebs_encryption_by_default: bool,
}

impl Action for GetEbsEncryptionByDefault {
    const NAME: &'static str = "GetEbsEncryptionByDefault";
    type Request = Request;
    type Response = Response;

    fn run(_request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        Ok(Response { ebs_encryption_by_default: devices::encrypts_by_default(call.account) })
    }
}
