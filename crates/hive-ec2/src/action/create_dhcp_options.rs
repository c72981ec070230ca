//! Makes a set of DHCP options.

use super::describe_dhcp_options::{DhcpOptionsView, view};
use super::prelude::*;
use crate::model::dhcp_options::DhcpOptions;

pub struct CreateDhcpOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    dhcp_configuration: Vec<Configuration>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    dhcp_options: DhcpOptionsView,
}

impl Action for CreateDhcpOptions {
    const NAME: &'static str = "CreateDhcpOptions";
    const ACCEPTS: Accepts = Accepts { tags: &["dhcp-options"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        const KNOWN: &[&str] = &[
            "domain-name",
            "domain-name-servers",
            "ipv6-address-preferred-lease-time",
            "netbios-name-servers",
            "netbios-node-type",
            "ntp-servers",
        ];
        if request.dhcp_configuration.is_empty() {
            return Err(ApiError::missing_parameter("dhcpConfiguration"));
        }
        let mut configurations = Vec::new();
        for configuration in request.dhcp_configuration {
            if !KNOWN.contains(&configuration.key.as_str()) || configuration.value.is_empty() {
                return Err(ApiError::invalid_value(
                    "dhcpConfiguration",
                    &configuration.key,
                    "It is no DHCP option with values.",
                ));
            }
            configurations.push((configuration.key, configuration.value));
        }
        let options = DhcpOptions { id: call.new_id(), configurations, tags: call.new_tags::<DhcpOptions>() };
        let view = view(&options, call.account);
        call.account.dhcp_options.insert(options);
        Ok(Response { dhcp_options: view })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Configuration {
    key: String,
    #[serde(default)]
    value: Vec<String>,
}
