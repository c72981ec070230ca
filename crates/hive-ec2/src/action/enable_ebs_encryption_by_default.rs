//! Makes new volumes encrypted unless asked otherwise.

use super::prelude::*;

pub struct EnableEbsEncryptionByDefault;

#[derive(Deserialize)]
pub struct Request {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    ebs_encryption_by_default: bool,
}

impl Action for EnableEbsEncryptionByDefault {
    const NAME: &'static str = "EnableEbsEncryptionByDefault";
    type Request = Request;
    type Response = Response;

    fn run(_request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        call.account.settings.edit("settings")?.ebs_encryption_by_default = true;
        Ok(Response { ebs_encryption_by_default: true })
    }
}
