//! Adds a rule to a network ACL.

use super::prelude::*;
use crate::rules::acl_entries::EntryRequest;

pub struct CreateNetworkAclEntry;

impl Action for CreateNetworkAclEntry {
    const NAME: &'static str = "CreateNetworkAclEntry";
    type Request = EntryRequest;
    type Response = Done;

    fn run(request: EntryRequest, call: &mut Call<'_>) -> ApiResult<Done> {
        let entry = request.entry()?;
        let acl = call.account.network_acls.edit(&request.network_acl_id)?;
        if acl
            .entries
            .iter()
            .any(|known| known.rule_number == entry.rule_number && known.egress == entry.egress)
        {
            return Err(ApiError::client(
                "NetworkAclEntryAlreadyExists",
                format!("The network acl entry identified by {} already exists.", entry.rule_number),
            ));
        }
        acl.entries.push(entry);
        acl.entries.sort_by_key(|entry| (entry.egress, entry.rule_number));
        Done::ok()
    }
}
