//! Gives a subnet another network ACL; the association gets a new id.

use super::prelude::*;
use crate::model::network_acl::NetworkAcl;

pub struct ReplaceNetworkAclAssociation;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
    network_acl_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    new_association_id: String,
}

impl Action for ReplaceNetworkAclAssociation {
    const NAME: &'static str = "ReplaceNetworkAclAssociation";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = &request.association_id;
        let old = call.account.network_acls.with(NetworkAcl::BY_ASSOCIATION, id).next();
        let old = old.ok_or_else(|| {
            ApiError::client(
                "InvalidAssociationID.NotFound",
                format!("The association ID '{id}' does not exist"),
            )
        })?;
        let new = call.account.network_acls.find(&request.network_acl_id)?;
        if old.vpc_id != new.vpc_id {
            return Err(ApiError::client(
                "InvalidParameterValue",
                format!("network ACL {} belongs to a different network", new.id),
            ));
        }
        let (old, new) = (old.id.clone(), new.id.clone());
        let associations = &mut call.account.network_acls.edit(&old)?.associations;
        let Some(at) = associations.iter().position(|a| a.id == *id) else {
            return Err(ApiError::internal("the association is gone"));
        };
        let mut association = associations.remove(at);
        association.id = call.random_id("aclassoc");
        let new_association_id = association.id.clone();
        call.account.network_acls.edit(&new)?.associations.push(association);
        Ok(Response { new_association_id })
    }
}
