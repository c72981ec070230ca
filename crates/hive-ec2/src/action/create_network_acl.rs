//! Makes a network ACL that denies everything.

use super::describe_network_acls::{NetworkAclView, view};
use super::prelude::*;
use crate::model::network_acl::NetworkAcl;
use crate::rules::vpcs::acl_entries;

pub struct CreateNetworkAcl;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    network_acl: NetworkAclView,
    client_token: Option<String>,
}

impl Action for CreateNetworkAcl {
    const NAME: &'static str = "CreateNetworkAcl";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["network-acl"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let vpc_id = call.account.vpcs.find(&request.vpc_id)?.id.clone();
        let acl = NetworkAcl {
            id: call.new_id(),
            vpc_id,
            is_default: false,
            entries: [false, true].into_iter().flat_map(|egress| acl_entries(egress, false)).collect(),
            associations: Vec::new(),
            tags: call.new_tags::<NetworkAcl>(),
        };
        let view = view(&acl, call.account);
        call.account.network_acls.insert(acl);
        Ok(Response { network_acl: view, client_token: call.common.client_token.clone() })
    }
}
