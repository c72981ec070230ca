//! Starts stopped instances.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::node::Order;
use crate::rules::interfaces::incorrect_state;
use crate::rules::placement;
use crate::rules::power::{self, Changes};

pub struct StartInstances;

impl Action for StartInstances {
    const NAME: &'static str = "StartInstances";
    type Request = InstanceIds;
    type Response = Changes;

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Changes> {
        power::change(call, &request.instance_id, Order::StartInstance, |account, instance| {
            match instance.state {
                InstanceState::Pending | InstanceState::Running => Ok(instance.state),
                InstanceState::Stopped => {
                    power::check_root(instance)?;
                    placement::check_start(account, instance).map(|()| InstanceState::Pending)
                }
                _ => Err(incorrect_state(instance, "started")),
            }
        })
    }
}
