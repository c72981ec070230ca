//! Makes new volumes plain unless asked otherwise.

use super::prelude::*;

pub struct DisableEbsEncryptionByDefault;

#[derive(Deserialize)]
pub struct Request {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    ebs_encryption_by_default: bool,
}

impl Action for DisableEbsEncryptionByDefault {
    const NAME: &'static str = "DisableEbsEncryptionByDefault";
    type Request = Request;
    type Response = Response;

    fn run(_request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        call.account.settings.edit("settings")?.ebs_encryption_by_default = false;
        Ok(Response { ebs_encryption_by_default: false })
    }
}
