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
        if let Some(owner) = &call.account.network_interfaces.find(&request.network_interface_id)?.managed_by
        {
            return Err(ApiError::client(
                "OperationNotPermitted",
                format!("The network interface '{}' belongs to {owner}", request.network_interface_id),
            ));
        }
        crate::rules::interfaces::delete(call.account, &request.network_interface_id)?;
        Done::ok()
    }
}
