//! Deletes a group that no interface uses and no other group names.

use super::prelude::*;
use crate::rules::dependents;
use crate::rules::permissions::PermissionsRequest;

pub struct DeleteSecurityGroup;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    group_id: Option<String>,
    group_name: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    group_id: String,
    #[serde(rename = "return")]
    done: bool,
}

impl Action for DeleteSecurityGroup {
    const NAME: &'static str = "DeleteSecurityGroup";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let asked = PermissionsRequest {
            group_id: request.group_id,
            group_name: request.group_name,
            ..Default::default()
        };
        let id = asked.group(call.account)?;
        let group = call.account.security_groups.find(&id)?;
        if group.name == "default" {
            return Err(ApiError::client(
                "CannotDelete",
                format!("the specified group: \"{id}\" name: \"default\" cannot be deleted by a user"),
            ));
        }
        dependents::refuse("security group", &id, dependents::of_security_group(call.account, group))?;
        call.account.security_groups.remove(&id);
        Ok(Response { group_id: id.to_string(), done: true })
    }
}
