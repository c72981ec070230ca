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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    snapshot_set: Vec<SnapshotView>,
    next_token: Option<String>,
}

static FILTERS: Filters<Snapshot> = Filters::of(&[
    ("owner-alias", Of(|snapshot, account| maybe(snapshot_owner(snapshot, account).alias))),
    ("owner-id", Of(|snapshot, account| one(snapshot_owner(snapshot, account).id))),
]);

impl Action for DescribeSnapshots {
    const NAME: &'static str = "DescribeSnapshots";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
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
        Ok(Response {
            snapshot_set: page.items.iter().map(|found| snapshot(found, account)).collect(),
            next_token: page.next_token,
        })
    }
}
