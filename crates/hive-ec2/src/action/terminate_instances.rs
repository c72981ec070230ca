//! Ends instances for good.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::node::Order;
use crate::rules::power::{self, Changes};

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

impl Action for TerminateInstances {
    const NAME: &'static str = "TerminateInstances";
    const WITHOUT_EFFECT: &'static [&'static str] = &["Force", "SkipOsShutdown"];
    type Request = Request;
    type Response = Changes;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Changes> {
        power::change(call, &request.instance_id, Order::TerminateInstance, |_, instance| {
            if instance.options.disable_api_termination {
                return Err(power::protected(instance, "terminated", "disableApiTermination"));
            }
            Ok(match instance.state {
                InstanceState::ShuttingDown | InstanceState::Terminated => instance.state,
                _ => InstanceState::ShuttingDown,
            })
        })
    }
}
