//! Takes a public address from the pool.

use super::prelude::*;
use crate::model::address::Address;
use crate::rules::addresses;

pub struct AllocateAddress;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    domain: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    allocation_id: String,
    public_ip: String,
    public_ipv4_pool: &'static str,
    domain: &'static str,
    network_border_group: String,
}

impl Action for AllocateAddress {
    const NAME: &'static str = "AllocateAddress";
    const ACCEPTS: Accepts = Accepts { tags: &["elastic-ip"], ..Accepts::NONE };
    const REFUSED_VALUES: &'static [&'static str] = &["Domain=standard"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        if let Some(domain) = request.domain.filter(|domain| domain != "vpc") {
            return Err(ApiError::invalid_value("Domain", &domain, "It must be vpc."));
        }
        let address = Address {
            id: call.new_id(),
            public_ip: addresses::free_public_address(call)?,
            association: None,
            tags: call.new_tags::<Address>(),
        };
        let response = Response {
            allocation_id: address.id.to_string(),
            public_ip: address.public_ip.to_string(),
            public_ipv4_pool: "amazon",
            domain: "vpc",
            network_border_group: call.environment.region.clone(),
        };
        call.account.addresses.insert(address);
        Ok(response)
    }
}
