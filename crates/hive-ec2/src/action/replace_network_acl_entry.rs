//! Changes a rule of a network ACL.

use super::prelude::*;
use crate::rules::acl_entries::{self, EntryRequest};

pub struct ReplaceNetworkAclEntry;

impl Action for ReplaceNetworkAclEntry {
    const NAME: &'static str = "ReplaceNetworkAclEntry";
    type Request = EntryRequest;
    type Response = Done;

    fn run(request: EntryRequest, call: &mut Call<'_>) -> ApiResult<Done> {
        let entry = request.entry()?;
        let acl = call.account.network_acls.edit(&request.network_acl_id)?;
        let known =
            acl.entries.iter_mut().find(|e| e.rule_number == entry.rule_number && e.egress == entry.egress);
        *known.ok_or_else(|| acl_entries::not_found(&request.network_acl_id))? = entry;
        Done::ok()
    }
}
