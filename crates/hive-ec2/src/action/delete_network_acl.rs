//! Deletes a network ACL that no subnet has.

use super::prelude::*;
use crate::rules::dependents;

pub struct DeleteNetworkAcl;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_acl_id: String,
}

impl Action for DeleteNetworkAcl {
    const NAME: &'static str = "DeleteNetworkAcl";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let acl = call.account.network_acls.find(&request.network_acl_id)?;
        if acl.is_default {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "cannot delete the default network ACL of a VPC",
            ));
        }
        let subnets = acl.associations.iter().map(|association| association.subnet_id.to_string()).collect();
        dependents::refuse("networkAcl", &request.network_acl_id, subnets)?;
        call.account.network_acls.remove(&request.network_acl_id);
        Done::ok()
    }
}
