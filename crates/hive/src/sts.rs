//! STS: who is asking.

use hive_api::{ApiError, ApiResult, Params, xml};
use serde::Serialize;

use crate::request::Principal;

pub(crate) const ACTIONS: &[&str] = &["GetCallerIdentity"];

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct CallerIdentity {
    arn: String,
    user_id: String,
    account: String,
}

pub(crate) fn call(principal: &Principal, action: &str, _params: &Params) -> ApiResult<String> {
    match action {
        "GetCallerIdentity" => {
            let identity = CallerIdentity {
                arn: principal.arn.clone(),
                user_id: principal.user_id.clone(),
                account: principal.account.to_string(),
            };
            xml::to_content(&identity).map_err(|error| ApiError::internal(error.to_string()))
        }
        other => Err(ApiError::invalid_action(other, "2011-06-15")),
    }
}
