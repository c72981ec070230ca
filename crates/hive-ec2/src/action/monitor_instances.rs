//! Turns detailed monitoring on.

use super::prelude::*;

pub struct MonitorInstances;

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

impl Action for MonitorInstances {
    const NAME: &'static str = "MonitorInstances";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut instances_set = Vec::new();
        for id in &request.instance_id {
            call.account.instances.edit(id)?.options.monitoring = true;
            instances_set.push(MonitoringView::new(id, true));
        }
        Ok(Response { instances_set })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitoringView {
    instance_id: String,
    monitoring: StateView,
}

#[derive(Serialize)]
struct StateView {
    state: &'static str,
}

impl MonitoringView {
    pub fn new(id: &str, on: bool) -> Self {
        let state = if on { "enabled" } else { "disabled" };
        Self { instance_id: id.to_owned(), monitoring: StateView { state } }
    }
}
