//! Would end that a virtual private gateway adds routes to a table; there is none.

use super::prelude::*;
use crate::rules::routes::{PropagationRequest, refuse_propagation};

pub struct DisableVgwRoutePropagation;

impl Action for DisableVgwRoutePropagation {
    const NAME: &'static str = "DisableVgwRoutePropagation";
    type Request = PropagationRequest;
    type Response = Done;

    fn run(request: PropagationRequest, call: &mut Call<'_>) -> ApiResult<Done> {
        refuse_propagation(&request, call.account)
    }
}
