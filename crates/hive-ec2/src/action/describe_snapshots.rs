//! Lists snapshots.

use super::prelude::*;
use crate::model::snapshot::{Snapshot, SnapshotState};
use crate::rules::snapshots;
use crate::view::volume::{SnapshotView, progress, snapshot, snapshot_owner};

pub struct DescribeSnapshots;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    snapshot_id: Vec<String>,
    #[serde(default)]
    owner: Vec<String>,
    #[serde(default)]
    restorable_by: Vec<String>,
}

static FILTERS: Filters<Snapshot> = Filters::of(&[
    // Those of the account have no alias; the others are not in its table.
    (
        "owner-alias",
        Through(|found, account| maybe(snapshot_owner(found, account).alias), |_, _| Some(Found::nothing())),
    ),
    (
        "owner-id",
        Through(
            |found, account| one(snapshot_owner(found, account).id),
            |call, owner| found_if(matches(owner, &call.account.id), || None),
        ),
    ),
    (
        "progress",
        Through(
            |found, _| one(progress(found.state)),
            |_, pattern| {
                let states =
                    SnapshotState::ALL.into_iter().filter(|state| matches(pattern, progress(*state)));
                Snapshot::BY_STATUS.found_any(states.map(SnapshotState::name))
            },
        ),
    ),
])
.shown("DescribeSnapshots", |found, call| shown(snapshot(found, call.account)));

impl Action for DescribeSnapshots {
    const NAME: &'static str = "DescribeSnapshots";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<SnapshotView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<SnapshotView>> {
        let account = &*call.account;
        let listed = |snapshot: &Snapshot| {
            let owner = snapshot_owner(snapshot, account);
            let usable = |who: &String| {
                let user = if who == "self" { &*account.id } else { who };
                owner.is(who, account) || snapshot.users.contains(user) || (who == "all" && snapshot.public)
            };
            (request.owner.is_empty() || request.owner.iter().any(|who| owner.is(who, account)))
                && (request.restorable_by.is_empty() || request.restorable_by.iter().any(usable))
        };
        let others = snapshots::of_others(call);
        let page = call.select_among(&account.snapshots, &others, &request.snapshot_id, &FILTERS, listed)?;
        Ok(page.listing("snapshotSet", |found| snapshot(found, account)))
    }
}
