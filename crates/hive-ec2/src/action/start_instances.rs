//! Starts stopped instances.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::node::Order;
use crate::rules::interfaces;
use crate::view::instance::{InstanceStateView, state};

pub struct StartInstances;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_id: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instances_set: Vec<ChangeView>,
}

impl Action for StartInstances {
    const NAME: &'static str = "StartInstances";
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
            let id = found.id.clone();
            let current = match previous {
                InstanceState::Pending | InstanceState::Running => previous,
                InstanceState::Stopped => InstanceState::Pending,
                _ => return Err(interfaces::incorrect_state(found)),
            };
            if current != previous {
                let notice = call.notice.map(|notice| ("Server.RecordsOnly".to_owned(), notice.to_owned()));
                let instance = call.account.instances.edit(&id)?;
                instance.state = current;
                instance.state_reason = notice;
                instance.launched = call.now;
                call.order(Order::StartInstance(id.clone()));
            }
            instances_set.push(ChangeView::new(&id, previous, current));
        }
        Ok(Response { instances_set })
    }
}

/// An instance before and after.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeView {
    instance_id: String,
    current_state: InstanceStateView,
    previous_state: InstanceStateView,
}

impl ChangeView {
    pub fn new(id: &str, previous: InstanceState, current: InstanceState) -> Self {
        Self { instance_id: id.to_owned(), current_state: state(current), previous_state: state(previous) }
    }
}
