//! Gives up a dedicated tenancy; the other way is not possible.

use super::prelude::*;
use crate::model::vpc::Tenancy;

pub struct ModifyVpcTenancy;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    vpc_id: String,
    instance_tenancy: Tenancy,
}

impl Action for ModifyVpcTenancy {
    const NAME: &'static str = "ModifyVpcTenancy";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        if request.instance_tenancy != Tenancy::Default {
            return Err(ApiError::client(
                "InvalidParameterValue",
                "The tenancy can only be changed to default",
            ));
        }
        call.account.vpcs.edit(&request.vpc_id)?.instance_tenancy = Tenancy::Default;
        Done::ok()
    }
}
