//! Sets what the private name of an instance is made of.

use super::prelude::*;
use crate::model::subnet::HostnameType;
use crate::rules::power;

pub struct ModifyPrivateDnsNameOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    private_dns_hostname_type: Option<HostnameType>,
    enable_resource_name_dns_a_record: Option<bool>,
    #[serde(rename = "EnableResourceNameDnsAAAARecord")]
    enable_resource_name_dns_aaaa_record: Option<bool>,
}

impl Action for ModifyPrivateDnsNameOptions {
    const NAME: &'static str = "ModifyPrivateDnsNameOptions";
    type Request = Request;
    type Response = Done;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Done> {
        let options = &mut power::edit(call.account, &request.instance_id)?.options;
        options.hostname_type = request.private_dns_hostname_type.unwrap_or(options.hostname_type);
        options.resource_name_dns_a_record =
            request.enable_resource_name_dns_a_record.unwrap_or(options.resource_name_dns_a_record);
        options.resource_name_dns_aaaa_record =
            request.enable_resource_name_dns_aaaa_record.unwrap_or(options.resource_name_dns_aaaa_record);
        Done::ok()
    }
}
