//! Makes the subnet of the default VPC that a zone is without.

use super::prelude::*;
use crate::rules::bootstrap;
use crate::view;
use crate::view::subnet::SubnetView;

pub struct CreateDefaultSubnet;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    availability_zone: Option<String>,
    availability_zone_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    subnet: SubnetView,
}

impl Action for CreateDefaultSubnet {
    const NAME: &'static str = "CreateDefaultSubnet";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let zone = call.environment.zone(request.availability_zone, request.availability_zone_id)?;
        let zone = zone.ok_or_else(|| ApiError::missing_parameter("availabilityZone"))?;
        let id = bootstrap::default_subnet(call, zone)?;
        // As the first ones: it is never left over.
        call.account.settings.edit("settings")?.born_with.insert(id.to_string());
        Ok(Response { subnet: view::subnet::subnet(call.account.subnets.find(&id)?, call) })
    }
}
