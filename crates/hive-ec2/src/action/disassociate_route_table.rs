//! Makes a subnet follow the main table again.

use super::prelude::*;
use crate::rules::route_associations;

pub struct DisassociateRouteTable;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    association_id: String,
}

impl Action for DisassociateRouteTable {
    const NAME: &'static str = "DisassociateRouteTable";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        route_associations::disassociate(call.account, &request.association_id)?;
        Done::ok()
    }
}
