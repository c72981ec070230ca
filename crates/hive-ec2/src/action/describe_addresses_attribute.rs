//! The reverse DNS name of elastic addresses: none can be set here.

use super::prelude::*;
use crate::model::address::Address;

static NO_FILTERS: Filters<Address> = Filters::only(&[], &[]);

pub struct DescribeAddressesAttribute;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    allocation_id: Vec<String>,
    attribute: Option<String>,
}

impl Action for DescribeAddressesAttribute {
    const NAME: &'static str = "DescribeAddressesAttribute";
    const ACCEPTS: Accepts = Accepts { pages: true, ..Accepts::NONE };
    type Request = Request;
    type Response = Listing<AttributeView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<AttributeView>> {
        if let Some(attribute) = request.attribute.filter(|attribute| attribute != "domain-name") {
            return Err(ApiError::invalid_value("Attribute", &attribute, "It must be domain-name."));
        }
        let page = call.select(&call.account.addresses, &request.allocation_id, &NO_FILTERS)?;
        let view = |address: &Address| AttributeView {
            public_ip: address.public_ip.to_string(),
            allocation_id: address.id.to_string(),
        };
        Ok(page.listing("addressSet", view))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttributeView {
    public_ip: String,
    allocation_id: String,
}
