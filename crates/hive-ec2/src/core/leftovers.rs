//! What an account holds beyond what it was born with: the check at the end of every destroy.

use crate::model::account::Account;
use crate::model::instance::InstanceState;

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Leftover {
    pub account: String,
    pub kind: &'static str,
    pub id: String,
}

/// Terminated instances, which stay described for an hour, and client tokens are not left over.
pub fn leftovers(account: &Account) -> Vec<Leftover> {
    let born_with = account.settings.iter().next().map(|settings| &settings.born_with);
    let mut found = Vec::new();
    account.each_key(|kind, id| {
        let ignored = matches!(kind, "client-token" | "departed" | "settings")
            || born_with.is_some_and(|ids| ids.contains(id))
            || account.nat_gateways.get(id).is_some_and(|g| g.deleted.is_some())
            || account.vpc_peering_connections.get(id).is_some_and(|p| p.ended.is_some())
            || account.instances.get(id).is_some_and(|i| i.state == InstanceState::Terminated);
        if !ignored {
            found.push(Leftover { account: account.id.to_string(), kind, id: id.to_owned() });
        }
    });
    found
}
