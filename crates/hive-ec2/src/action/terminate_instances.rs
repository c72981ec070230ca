//! Ends instances for good.

use super::prelude::*;
use super::start_instances::ChangeView;
use crate::model::instance::InstanceState;
use crate::node::Order;
use crate::rules::launch::reason;

pub struct TerminateInstances;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_id: Vec<String>,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    force: bool,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    skip_os_shutdown: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instances_set: Vec<ChangeView>,
}

impl Action for TerminateInstances {
    const NAME: &'static str = "TerminateInstances";
    const WITHOUT_EFFECT: &'static [&'static str] = &["Force", "SkipOsShutdown"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        if request.instance_id.is_empty() {
            return Err(ApiError::missing_parameter("InstanceId"));
        }
        let mut instances_set = Vec::new();
        for id in &request.instance_id {
            let found = call.account.instances.find(id)?;
            let previous = found.state;
            if found.options.disable_api_termination {
                return Err(ApiError::client(
                    "OperationNotPermitted",
                    format!(
                        "The instance '{id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again."
                    ),
                ));
            }
            let id = found.id.clone();
            let current = match previous {
                InstanceState::ShuttingDown | InstanceState::Terminated => previous,
                _ => InstanceState::ShuttingDown,
            };
            if current != previous {
                let instance = call.account.instances.edit(&id)?;
                instance.state = current;
                instance.state_reason = Some((
                    "Client.UserInitiatedShutdown".to_owned(),
                    reason("User initiated shutdown", call.notice),
                ));
                call.order(Order::TerminateInstance(id.clone()));
            }
            instances_set.push(ChangeView::new(&id, previous, current));
        }
        Ok(Response { instances_set })
    }
}
