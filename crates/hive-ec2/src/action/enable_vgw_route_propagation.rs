//! Would let a virtual private gateway add routes to a table; there is none.

use super::prelude::*;
use crate::rules::routes::{PropagationRequest, refuse_propagation};

pub struct EnableVgwRoutePropagation;

impl Action for EnableVgwRoutePropagation {
    const NAME: &'static str = "EnableVgwRoutePropagation";
    type Request = PropagationRequest;
    type Response = Done;

    fn run(request: PropagationRequest, call: &mut Call<'_>) -> ApiResult<Done> {
        refuse_propagation(&request, call.account)
    }
}
