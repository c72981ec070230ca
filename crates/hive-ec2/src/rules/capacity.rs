//! Capacity reservations: there are none here, so an instance can only say whether it would use one.

use hive_api::{ApiError, ApiResult};
use serde::Deserialize;

use crate::model::instance::CapacityPreference;

/// As RunInstances and ModifyInstanceCapacityReservationAttributes take it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct CapacityRequest {
    capacity_reservation_preference: Option<CapacityPreference>,
    capacity_reservation_target: Option<CapacityTarget>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CapacityTarget {
    capacity_reservation_id: Option<String>,
    capacity_reservation_resource_group_arn: Option<String>,
}

impl CapacityRequest {
    pub fn preference(&self) -> ApiResult<CapacityPreference> {
        if let Some(target) = &self.capacity_reservation_target {
            let id = target.capacity_reservation_id.as_deref();
            let id = id.or(target.capacity_reservation_resource_group_arn.as_deref());
            return Err(ApiError::client(
                "InvalidCapacityReservationId.NotFound",
                format!("The capacity reservation '{}' does not exist", id.unwrap_or_default()),
            ));
        }
        match self.capacity_reservation_preference.unwrap_or(CapacityPreference::Open) {
            CapacityPreference::CapacityReservationsOnly => Err(ApiError::client(
                "ReservationCapacityExceeded",
                "There is no capacity reservation that the instance could run in",
            )),
            preference => Ok(preference),
        }
    }
}
