//! Sets whether a stopped instance uses a capacity reservation. There are none here, so none can be named.

use super::prelude::*;
use crate::model::instance::InstanceState;
use crate::rules::interfaces::incorrect_state;

pub struct ModifyInstanceCapacityReservationAttributes;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    capacity_reservation_specification: Specification,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Specification {
    capacity_reservation_preference: Option<Preference>,
    capacity_reservation_target: Option<Target>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Preference {
    Open,
    None,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Target {
    capacity_reservation_id: Option<String>,
    capacity_reservation_resource_group_arn: Option<String>,
}

impl Action for ModifyInstanceCapacityReservationAttributes {
    const NAME: &'static str = "ModifyInstanceCapacityReservationAttributes";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let instance = call.account.instances.find(&request.instance_id)?;
        if instance.state != InstanceState::Stopped {
            return Err(incorrect_state(instance));
        }
        let wanted = request.capacity_reservation_specification;
        if let Some(target) = wanted.capacity_reservation_target {
            let id = target.capacity_reservation_id.or(target.capacity_reservation_resource_group_arn);
            return Err(ApiError::client(
                "InvalidCapacityReservationId.NotFound",
                format!("The capacity reservation '{}' does not exist", id.unwrap_or_default()),
            ));
        }
        let preference = wanted.capacity_reservation_preference.unwrap_or(Preference::Open);
        call.account.instances.edit(&request.instance_id)?.options.capacity_reservation_preference =
            match preference {
                Preference::Open => "open".to_owned(),
                Preference::None => "none".to_owned(),
            };
        Done::ok()
    }
}
