//! Turns detailed monitoring on.

use super::prelude::*;
use crate::rules::power;

pub struct MonitorInstances;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instances_set: Vec<MonitoringView>,
}

impl Action for MonitorInstances {
    const NAME: &'static str = "MonitorInstances";
    type Request = InstanceIds;
    type Response = Response;

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Response> {
        set(&request, call, true)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MonitoringView {
    instance_id: String,
    monitoring: StateView,
}

#[derive(Serialize)]
struct StateView {
    state: &'static str,
}

/// Turns it on or off for every instance that is named.
pub fn set(request: &InstanceIds, call: &mut Call<'_>, on: bool) -> ApiResult<Response> {
    power::some(&request.instance_id)?;
    let mut instances_set = Vec::new();
    for id in &request.instance_id {
        power::edit(call.account, id)?.options.monitoring = on;
        let state = if on { "enabled" } else { "disabled" };
        instances_set.push(MonitoringView { instance_id: id.clone(), monitoring: StateView { state } });
    }
    Ok(Response { instances_set })
}
