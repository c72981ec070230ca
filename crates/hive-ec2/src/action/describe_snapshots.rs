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

static FILTERS: &[FilterRow<Snapshot>] = &[
    ("description", |snapshot, _| one(&snapshot.description)),
    ("encrypted", |snapshot, _| one(snapshot.encrypted)),
    ("owner-alias", |snapshot, account| maybe(snapshot_owner(snapshot, account).alias)),
    ("owner-id", |snapshot, account| one(snapshot_owner(snapshot, account).id)),
    ("snapshot-id", |snapshot, _| one(&snapshot.id)),
    ("status", |snapshot, _| vec![format!("{:?}", snapshot.state).to_lowercase()]),
    ("volume-id", |snapshot, _| one(&snapshot.volume_id)),
    ("volume-size", |snapshot, _| one(snapshot.volume_size)),
];

impl Action for DescribeSnapshots {
    const NAME: &'static str = "DescribeSnapshots";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        filter_names(FILTERS)
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
        let page = call.select_among(&account.snapshots, everyone, &request.snapshot_id, FILTERS, listed)?;
        Ok(Response {
            snapshot_set: page.items.iter().map(|found| snapshot(found, account)).collect(),
            next_token: page.next_token,
        })
    }
}
