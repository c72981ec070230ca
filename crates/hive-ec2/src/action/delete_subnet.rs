//! Deletes a subnet that no interface is in.

use super::prelude::*;

pub struct DeleteSubnet;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    subnet_id: String,
}

impl Action for DeleteSubnet {
    const NAME: &'static str = "DeleteSubnet";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        crate::rules::vpcs::delete_subnet(call.account, &request.subnet_id)?;
        Done::ok()
    }
}
