//! Deletes an interface that is attached to nothing.

use super::prelude::*;

pub struct DeleteNetworkInterface;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    network_interface_id: String,
}

impl Action for DeleteNetworkInterface {
    const NAME: &'static str = "DeleteNetworkInterface";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        crate::rules::interfaces::delete(call.account, &request.network_interface_id)?;
        Done::ok()
    }
}
