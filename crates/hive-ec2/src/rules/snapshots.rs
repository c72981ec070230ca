//! Snapshots of the account, of everyone, and those that others share with it.

use std::sync::Arc;

use hive_api::{ApiError, ApiResult};

use crate::core::call::Call;
use crate::core::tags::Tags;
use crate::data::images;
use crate::model::account::Account;
use crate::model::snapshot::Snapshot;
use crate::rules::images::{find_snapshot, others};

/// One that volumes and copies may be made of.
pub fn find(call: &Call<'_>, id: &str) -> ApiResult<Arc<Snapshot>> {
    find_snapshot(call.account, id).or_else(|missing| {
        let mut shared = others(call).filter_map(|other| {
            let snapshot =
                other.snapshots.get(id).filter(|snapshot| snapshot.is_shared_with(&call.account.id))?;
            Some(lent(snapshot, other, call.account))
        });
        shared.next().ok_or(missing)
    })
}

/// One of the account's own; others' cannot be changed.
pub fn find_own<'a>(call: &'a Call<'_>, id: &str) -> ApiResult<&'a Snapshot> {
    match call.account.snapshots.get(id) {
        Some(own) => Ok(own),
        None => {
            find(call, id)?;
            let message = format!("You do not own the snapshot '{id}'");
            Err(ApiError::client("UnauthorizedOperation", message).with_status(403))
        }
    }
}

/// All that the account may use beside its own, in the order of their keys.
pub fn of_others(call: &Call<'_>) -> Vec<Arc<Snapshot>> {
    let mut all = images::snapshots().to_vec();
    for other in others(call) {
        let public = other.snapshots.with(Snapshot::BY_PUBLIC, "true");
        let shared = other.snapshots.with(Snapshot::BY_USER, &call.account.id);
        let shared = public.chain(shared.filter(|snapshot| !snapshot.public));
        all.extend(shared.map(|snapshot| lent(snapshot, other, call.account)));
    }
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
}

/// As the account sees it that it is shared with. Tags, and who else may use it, are for its owner alone.
fn lent(snapshot: &Snapshot, owner: &Account, borrower: &Account) -> Arc<Snapshot> {
    let users = snapshot.users.iter().filter(|user| ***user == *borrower.id).cloned().collect();
    Arc::new(Snapshot { lender: Some(owner.id.clone()), tags: Tags::default(), users, ..snapshot.clone() })
}
