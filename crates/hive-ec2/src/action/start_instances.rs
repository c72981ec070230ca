//! Starts stopped instances.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::node::Order;
use crate::rules::interfaces::incorrect_state;
use crate::rules::power::{self, Changes};

pub struct StartInstances;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_id: Vec<String>,
}

impl Action for StartInstances {
    const NAME: &'static str = "StartInstances";
    type Request = Request;
    type Response = Changes;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Changes> {
        power::change(call, &request.instance_id, Order::StartInstance, |instance| match instance.state {
            InstanceState::Pending | InstanceState::Running => Ok(instance.state),
            InstanceState::Stopped => Ok(InstanceState::Pending),
            _ => Err(incorrect_state(instance)),
        })
    }
}
