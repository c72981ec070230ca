//! Turns detailed monitoring off.

use super::monitor_instances::{Response, set};
use super::prelude::*;

pub struct UnmonitorInstances;

impl Action for UnmonitorInstances {
    const NAME: &'static str = "UnmonitorInstances";
    type Request = InstanceIds;
    type Response = Response;

    fn run(request: InstanceIds, call: &mut Call<'_>) -> ApiResult<Response> {
        set(&request, call, false)
    }
}
