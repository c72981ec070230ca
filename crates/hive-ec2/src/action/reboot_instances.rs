//! Restarts running instances.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::node::Order;
use crate::rules::interfaces;

pub struct RebootInstances;

impl Action for RebootInstances {
    const NAME: &'static str = "RebootInstances";
    type Request = InstanceIds;
    type Response = Done;

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Done> {
        if request.instance_id.is_empty() {
            return Err(ApiError::missing_parameter("InstanceId"));
        }
        for id in &request.instance_id {
            let instance = call.account.instances.find(id)?;
            if !matches!(instance.state, InstanceState::Running | InstanceState::Pending) {
                return Err(interfaces::incorrect_state(instance));
            }
            let id = instance.id.clone();
            call.account.instances.edit(&id)?.rebooting = true;
            call.order(Order::RebootInstance(id));
        }
        Done::ok()
    }
}
