//! Restarts running instances.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::rules::{interfaces, power};

pub struct RebootInstances;

impl Action for RebootInstances {
    const NAME: &'static str = "RebootInstances";
    type Request = InstanceIds;
    type Response = Done;

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Done> {
        power::some(&request.instance_id)?;
        for id in &request.instance_id {
            let instance = call.account.instances.find(id)?;
            if !matches!(instance.state, InstanceState::Running | InstanceState::Pending) {
                return Err(interfaces::incorrect_state(instance, "rebooted"));
            }
            let id = instance.id.clone();
            power::reboot(call, id)?;
        }
        Done::ok()
    }
}
