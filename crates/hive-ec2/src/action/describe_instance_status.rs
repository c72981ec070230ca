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
            instance_status: Summary { status: status(instance) },
            system_status: Summary { status: status(instance) },
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
}

#[derive(Serialize)]
struct Summary {
    status: &'static str,
}

fn status(instance: &Instance) -> &'static str {
    if instance.state == InstanceState::Running { "ok" } else { "not-applicable" }
}
