//! Turns detailed monitoring off.

use super::monitor_instances::{Request, Response, set};
use super::prelude::*;

pub struct UnmonitorInstances;

impl Action for UnmonitorInstances {
    const NAME: &'static str = "UnmonitorInstances";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        set(&request, call, false)
    }
}
