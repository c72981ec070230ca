//! Sets whether an instance is recovered by itself.

use super::prelude::*;
use crate::model::instance::AutoRecovery;
use crate::rules::power;

pub struct ModifyInstanceMaintenanceOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    auto_recovery: Option<AutoRecovery>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_id: String,
    auto_recovery: AutoRecovery,
}

impl Action for ModifyInstanceMaintenanceOptions {
    const NAME: &'static str = "ModifyInstanceMaintenanceOptions";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let options = &mut power::edit(call.account, &request.instance_id)?.options;
        options.auto_recovery = request.auto_recovery.unwrap_or(options.auto_recovery);
        Ok(Response { instance_id: request.instance_id, auto_recovery: options.auto_recovery })
    }
}
