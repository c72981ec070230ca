//! Lists snapshots.

use super::prelude::*;
use crate::model::snapshot::Snapshot;
use crate::view;
use crate::view::volume::SnapshotView;

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
    ("owner-id", |_, account| one(&account.id)),
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
        let page = call.select(&call.account.snapshots, &request.snapshot_id, FILTERS)?;
        let own = |name: &String| *name == "self" || **name == *call.account.id;
        let asked = |names: &[String]| names.is_empty() || names.iter().any(own);
        let listed = asked(&request.owner) && asked(&request.restorable_by);
        let snapshots =
            page.items.iter().filter(|_| listed).map(|snapshot| view::volume::snapshot(snapshot, call));
        Ok(Response { snapshot_set: snapshots.collect(), next_token: page.next_token.filter(|_| listed) })
    }
}
