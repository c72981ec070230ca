//! Deletes a set of DHCP options that no VPC uses.

use super::prelude::*;
use crate::core::table::Resource;
use crate::model::dhcp_options::DhcpOptions;
use crate::model::vpc::Vpc;
use crate::rules::dependents;

pub struct DeleteDhcpOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    dhcp_options_id: String,
}

impl Action for DeleteDhcpOptions {
    const NAME: &'static str = "DeleteDhcpOptions";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let id = &request.dhcp_options_id;
        // Not the code of the Describe, and the provider looks for this one.
        let options = call.account.dhcp_options.get(id).ok_or_else(|| {
            let message = DhcpOptions::KIND.not_found(id).message;
            ApiError::client("InvalidDhcpOptionsID.NotFound", message)
        })?;
        let users = call.account.vpcs.with(Vpc::BY_DHCP_OPTIONS, &options.id);
        dependents::refuse("dhcpOptions", &options.id, users.map(|vpc| vpc.id.to_string()).collect())?;
        call.account.dhcp_options.remove(id);
        Done::ok()
    }
}
