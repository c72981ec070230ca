//! Turns detailed monitoring off.

use super::monitor_instances::MonitoringView;
use super::prelude::*;

pub struct UnmonitorInstances;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instances_set: Vec<MonitoringView>,
}

impl Action for UnmonitorInstances {
    const NAME: &'static str = "UnmonitorInstances";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut instances_set = Vec::new();
        for id in &request.instance_id {
            call.account.instances.edit(id)?.options.monitoring = false;
            instances_set.push(MonitoringView::new(id, false));
        }
        Ok(Response { instances_set })
    }
}
