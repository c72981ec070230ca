//! Lists sets of DHCP options.

use super::prelude::*;
use crate::model::dhcp_options::DhcpOptions;
use crate::view::{AttributeValue, TagView, tags};

pub struct DescribeDhcpOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    dhcp_options_id: Vec<String>,
}

static FILTERS: Filters<DhcpOptions> = Filters::of(&[("owner-id", Same(|account| account.id.to_string()))]);

impl Action for DescribeDhcpOptions {
    const NAME: &'static str = "DescribeDhcpOptions";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<DhcpOptionsView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<DhcpOptionsView>> {
        let page = call.select(&call.account.dhcp_options, &request.dhcp_options_id, &FILTERS)?;
        Ok(page.listing("dhcpOptionsSet", |options| view(options, call.account)))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DhcpOptionsView {
    dhcp_options_id: String,
    owner_id: String,
    dhcp_configuration_set: Vec<ConfigurationView>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigurationView {
    key: String,
    value_set: Vec<AttributeValue<String>>,
}

pub fn view(options: &DhcpOptions, account: &Account) -> DhcpOptionsView {
    let configurations = options.configurations.iter().map(|(key, values)| ConfigurationView {
        key: key.clone(),
        value_set: values.iter().map(|value| AttributeValue { value: value.clone() }).collect(),
    });
    DhcpOptionsView {
        dhcp_options_id: options.id.to_string(),
        owner_id: account.id.to_string(),
        dhcp_configuration_set: configurations.collect(),
        tag_set: tags(&options.tags),
    }
}
