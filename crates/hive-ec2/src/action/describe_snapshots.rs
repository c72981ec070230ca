//! Lists snapshots.

use super::prelude::*;
use crate::data::images;
use crate::model::snapshot::Snapshot;
use crate::view::volume::{SnapshotView, snapshot, snapshot_owner};

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
    ("owner-alias", Of(|snapshot, account| maybe(snapshot_owner(snapshot, account).alias))),
    ("owner-id", Of(|snapshot, account| one(snapshot_owner(snapshot, account).id))),
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
                owner.is(who, account) || (who == "all" && images::find_snapshot(&snapshot.id).is_some())
            };
            (request.owner.is_empty() || request.owner.iter().any(|who| owner.is(who, account)))
                && (request.restorable_by.is_empty() || request.restorable_by.iter().any(usable))
        };
        let everyone = images::snapshots();
        let page = call.select_among(&account.snapshots, everyone, &request.snapshot_id, &FILTERS, listed)?;
        Ok(page.listing("snapshotSet", |found| snapshot(found, account)))
    }
}
