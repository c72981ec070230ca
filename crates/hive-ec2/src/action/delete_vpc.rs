//! Deletes a VPC that nothing depends on, with what it was born with.

use super::prelude::*;

pub struct DeleteVpc;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
}

impl Action for DeleteVpc {
    const NAME: &'static str = "DeleteVpc";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        crate::rules::vpcs::delete_vpc(call.account, &request.vpc_id, call.now)?;
        Done::ok()
    }
}
