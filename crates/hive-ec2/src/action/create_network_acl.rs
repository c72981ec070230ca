//! Makes a network ACL that denies everything.

use super::describe_network_acls::{NetworkAclView, view};
use super::prelude::*;
use crate::model::network_acl::NetworkAcl;
use crate::rules::vpcs::{Block, acl_entries};

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
        let vpc = call.account.vpcs.find(&request.vpc_id)?;
        let mut entries = acl_entries(Block::V4, false);
        if !vpc.ipv6_cidrs.is_empty() {
            entries.extend(acl_entries(Block::V6, false));
            entries.sort_by_key(|entry| (entry.egress, entry.rule_number));
        }
        let acl = NetworkAcl {
            id: call.new_id(),
            vpc_id: vpc.id.clone(),
            is_default: false,
            entries,
            associations: Vec::new(),
            tags: call.new_tags::<NetworkAcl>(),
        };
        let view = view(&acl, call.account);
        call.account.network_acls.insert(acl);
        Ok(Response { network_acl: view, client_token: call.common.client_token.clone() })
    }
}
