//! Sets whether a stopped instance uses a capacity reservation. There are none here, so none can be named.

use super::prelude::*;
use crate::rules::capacity::CapacityRequest;
use crate::rules::power;

pub struct ModifyInstanceCapacityReservationAttributes;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    capacity_reservation_specification: CapacityRequest,
}

impl Action for ModifyInstanceCapacityReservationAttributes {
    const NAME: &'static str = "ModifyInstanceCapacityReservationAttributes";
    const REFUSED_VALUES: &'static [&'static str] =
        &["CapacityReservationSpecification.CapacityReservationPreference=capacity-reservations-only"];
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        power::check_stopped(call.account.instances.find(&request.instance_id)?)?;
        let preference = request.capacity_reservation_specification.preference()?;
        call.account.instances.edit(&request.instance_id)?.options.capacity_reservation_preference =
            preference;
        Done::ok()
    }
}
