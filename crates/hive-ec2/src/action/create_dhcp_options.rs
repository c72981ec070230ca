//! Makes a set of DHCP options.

use std::net::{IpAddr, Ipv4Addr};

use hive_api::plain_number;

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
        if request.dhcp_configuration.is_empty() {
            return Err(ApiError::missing_parameter("dhcpConfiguration"));
        }
        let mut configurations = Vec::new();
        for configuration in request.dhcp_configuration {
            let values = values(&configuration.key, &configuration.value)?;
            configurations.push((configuration.key, values));
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

/// The values of an option, each by itself: EC2 also takes several in one, with commas between them.
fn values(key: &str, given: &[String]) -> ApiResult<Vec<String>> {
    const MOST: usize = 4;
    let name = |text: &str| !text.is_empty();
    let server = |text: &str| text == "AmazonProvidedDNS" || text.parse::<IpAddr>().is_ok();
    let address = |text: &str| text.parse::<IpAddr>().is_ok();
    let v4 = |text: &str| text.parse::<Ipv4Addr>().is_ok();
    let node = |text: &str| ["1", "2", "4", "8"].contains(&text);
    let lease = |text: &str| plain_number::<u32>(text).is_some_and(|s| (140..=2_147_483_647).contains(&s));
    let (fits, most, what): (&dyn Fn(&str) -> bool, _, _) = match key {
        "domain-name" => (&name, 1, "a domain name"),
        "domain-name-servers" => (&server, MOST, "the addresses of up to 4 servers, or AmazonProvidedDNS"),
        "ntp-servers" => (&address, MOST, "the addresses of up to 4 servers"),
        "netbios-name-servers" => (&v4, MOST, "the IPv4 addresses of up to 4 servers"),
        "netbios-node-type" => (&node, 1, "1, 2, 4 or 8"),
        "ipv6-address-preferred-lease-time" => (&lease, 1, "a number of seconds from 140 to 2147483647"),
        other => {
            return Err(ApiError::invalid_value("dhcpConfiguration", other, "It is no DHCP option."));
        }
    };
    let values: Vec<String> =
        given.iter().flat_map(|text| text.split(',')).map(|text| text.trim().to_owned()).collect();
    let wrong = values.iter().find(|text| !fits(text));
    if wrong.is_some() || values.is_empty() || values.len() > most {
        let shown = wrong.cloned().unwrap_or_else(|| values.join(", "));
        return Err(ApiError::invalid_value(key, &shown, &format!("It must be {what}.")));
    }
    Ok(values)
}
