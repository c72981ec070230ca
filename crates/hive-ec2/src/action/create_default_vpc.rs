//! Makes a default VPC with its subnets and its way out, where the one that there was is gone.

use super::prelude::*;
use crate::rules::bootstrap;
use crate::view;
use crate::view::vpc::VpcView;

pub struct CreateDefaultVpc;

#[derive(Deserialize)]
pub struct Request {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    vpc: VpcView,
}

impl Action for CreateDefaultVpc {
    const NAME: &'static str = "CreateDefaultVpc";
    type Request = Request;
    type Response = Response;

    fn run(_: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        if let Some(vpc) = call.account.default_vpc() {
            return Err(ApiError::client(
                "DefaultVpcAlreadyExists",
                format!("A Default VPC already exists for this account in this region: {}", vpc.id),
            ));
        }
        let before = bootstrap::keys(call.account);
        let id = bootstrap::default_vpc(call)?;
        // As the first one: it is never left over.
        let mut made = bootstrap::keys(call.account);
        made.retain(|key| !before.contains(key));
        call.account.settings.edit("settings")?.born_with.append(&mut made);
        Ok(Response { vpc: view::vpc::vpc(call.account.vpcs.find(&id)?, call.account) })
    }
}
