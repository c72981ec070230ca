//! Deletes a gateway that is attached to nothing.

use super::prelude::*;

pub struct DeleteInternetGateway;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    internet_gateway_id: String,
}

impl Action for DeleteInternetGateway {
    const NAME: &'static str = "DeleteInternetGateway";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = &request.internet_gateway_id;
        if let Some(vpc) = &call.account.internet_gateways.find(id)?.vpc_id {
            return Err(ApiError::client(
                "DependencyViolation",
                format!(
                    "The internetGateway '{id}' has dependencies and cannot be deleted: it is attached to {vpc}"
                ),
            ));
        }
        call.account.internet_gateways.remove(id);
        Done::ok()
    }
}
