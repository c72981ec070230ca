//! Takes a rule from a network ACL.

use super::prelude::*;
use crate::rules::acl_entries;

pub struct DeleteNetworkAclEntry;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_acl_id: String,
    rule_number: u32,
    #[serde(default)]
    egress: bool,
}

impl Action for DeleteNetworkAclEntry {
    const NAME: &'static str = "DeleteNetworkAclEntry";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        acl_entries::check_number(request.rule_number)?;
        let acl = call.account.network_acls.edit(&request.network_acl_id)?;
        let at = acl
            .entries
            .iter()
            .position(|e| e.rule_number == request.rule_number && e.egress == request.egress);
        acl.entries.remove(at.ok_or_else(|| acl_entries::not_found(&request.network_acl_id))?);
        Done::ok()
    }
}
