//! Gives a VPC a set of DHCP options, or `default` for none.

use super::prelude::*;

pub struct AssociateDhcpOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    dhcp_options_id: String,
    vpc_id: String,
}

impl Action for AssociateDhcpOptions {
    const NAME: &'static str = "AssociateDhcpOptions";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let options = match request.dhcp_options_id.as_str() {
            "default" => None,
            id => Some(call.account.dhcp_options.find(id)?.id.clone()),
        };
        call.account.vpcs.edit(&request.vpc_id)?.dhcp_options_id = options;
        Done::ok()
    }
}
