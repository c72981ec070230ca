//! How running instances are.

use super::prelude::*;
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_status_set: Vec<StatusItem>,
    next_token: Option<String>,
}

static FILTERS: Filters<Instance> = Filters::only(
    &["availability-zone", "instance-state-code", "instance-state-name"],
    &[
        (
            "instance-status.reachability",
            Of(|instance, _| one(if status(instance) == "ok" { "passed" } else { "insufficient-data" })),
        ),
        ("instance-status.status", Of(|instance, _| one(status(instance)))),
        (
            "system-status.reachability",
            Of(|instance, _| one(if status(instance) == "ok" { "passed" } else { "insufficient-data" })),
        ),
        ("system-status.status", Of(|instance, _| one(status(instance)))),
    ],
);

impl Action for DescribeInstanceStatus {
    const NAME: &'static str = "DescribeInstanceStatus";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.instances, &request.instance_id, &FILTERS)?;
        let listed = page
            .items
            .iter()
            .filter(|instance| instance.state == InstanceState::Running || request.include_all_instances);
        let items = listed.map(|instance| StatusItem {
            instance_id: instance.id.to_string(),
            availability_zone: instance.availability_zone.clone(),
            instance_state: state(instance.state),
            instance_status: Summary { status: status(instance) },
            system_status: Summary { status: status(instance) },
        });
        Ok(Response { instance_status_set: items.collect(), next_token: page.next_token })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusItem {
    instance_id: String,
    availability_zone: String,
    instance_state: InstanceStateView,
    instance_status: Summary,
    system_status: Summary,
}

#[derive(Serialize)]
struct Summary {
    status: &'static str,
}

fn status(instance: &Instance) -> &'static str {
    if instance.state == InstanceState::Running { "ok" } else { "not-applicable" }
}
