//! How running instances are.

use super::prelude::*;
use crate::core::filter::FilterRow;
use crate::model::instance::{Instance, InstanceState};
use crate::view::instance::{InstanceStateView, state};

pub struct DescribeInstanceStatus;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_id: Vec<String>,
    #[serde(default)]
    include_all_instances: bool,
}

static FILTERS: Filters<Instance> = Filters::only(
    &["availability-zone", "instance-state-code", "instance-state-name"],
    &[
        ("attached-ebs-status.status", STATUS),
        ("instance-status.reachability", REACHABILITY),
        ("instance-status.status", STATUS),
        ("system-status.reachability", REACHABILITY),
        ("system-status.status", STATUS),
    ],
);

const REACHABILITY: FilterRow<Instance> =
    Through(|instance, _| one(reachability(instance.state)), |_, pattern| in_states(pattern, reachability));
const STATUS: FilterRow<Instance> =
    Through(|instance, _| one(status(instance.state)), |_, pattern| in_states(pattern, status));

/// Where all stands whose state is called something that matches.
fn in_states(pattern: &str, called: fn(InstanceState) -> &'static str) -> Option<Found> {
    let states = InstanceState::ALL.into_iter().filter(|state| matches(pattern, called(*state)));
    Instance::BY_STATE.found_any(states.map(InstanceState::name))
}

impl Action for DescribeInstanceStatus {
    const NAME: &'static str = "DescribeInstanceStatus";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<StatusItem>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<StatusItem>> {
        let listed =
            |instance: &Instance| request.include_all_instances || instance.state == InstanceState::Running;
        let page = call.select_where(&call.account.instances, &request.instance_id, &FILTERS, listed)?;
        Ok(page.listing("instanceStatusSet", |instance| StatusItem {
            instance_id: instance.id.to_string(),
            availability_zone: instance.availability_zone.clone(),
            instance_state: state(instance.state),
            instance_status: summary(instance.state),
            system_status: summary(instance.state),
            attached_ebs_status: summary(instance.state),
            events_set: Vec::new(),
        }))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusItem {
    instance_id: String,
    availability_zone: String,
    instance_state: InstanceStateView,
    instance_status: Summary,
    system_status: Summary,
    attached_ebs_status: Summary,
    /// Nothing is ever planned.
    events_set: Vec<String>,
}

#[derive(Serialize)]
struct Summary {
    status: &'static str,
    details: Vec<Detail>,
}

/// The one thing that is looked at.
#[derive(Serialize)]
struct Detail {
    name: &'static str,
    status: &'static str,
}

/// Of what does not run, nothing is looked at.
fn summary(state: InstanceState) -> Summary {
    let looked_at = state == InstanceState::Running;
    let detail = looked_at.then(|| Detail { name: "reachability", status: reachability(state) });
    Summary { status: status(state), details: detail.into_iter().collect() }
}

fn status(state: InstanceState) -> &'static str {
    if state == InstanceState::Running { "ok" } else { "not-applicable" }
}

fn reachability(state: InstanceState) -> &'static str {
    if state == InstanceState::Running { "passed" } else { "insufficient-data" }
}
