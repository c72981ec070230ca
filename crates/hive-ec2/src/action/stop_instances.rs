//! Stops running instances.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::node::Order;
use crate::rules::interfaces::incorrect_state;
use crate::rules::launch;
use crate::rules::power::{self, Changes};

pub struct StopInstances;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    instance_id: Vec<String>,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    force: bool,
    #[serde(default)]
    hibernate: bool,
}

impl Action for StopInstances {
    const NAME: &'static str = "StopInstances";
    const WITHOUT_EFFECT: &'static [&'static str] = &["Force"];
    const REFUSED_VALUES: &'static [&'static str] = &["Hibernate=true"];
    type Request = Request;
    type Response = Changes;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Changes> {
        power::change(call, &request.instance_id, Order::StopInstance, |_, instance| {
            if instance.options.disable_api_stop {
                return Err(power::protected(instance, "stopped", "disableApiStop"));
            }
            if request.hibernate {
                return Err(launch::no_hibernation(&instance.instance_type));
            }
            match instance.state {
                InstanceState::Pending if !instance.has_run => {
                    let why = "cannot be stopped as it has never reached the 'running' state.";
                    let message = format!("Instance '{}' {why}", instance.id);
                    Err(ApiError::client("IncorrectInstanceState", message))
                }
                InstanceState::Stopping | InstanceState::Stopped => Ok(instance.state),
                InstanceState::Running | InstanceState::Pending => Ok(InstanceState::Stopping),
                InstanceState::ShuttingDown | InstanceState::Terminated => {
                    Err(incorrect_state(instance, "stopped"))
                }
            }
        })
    }
}
