//! Makes a NAT gateway in a subnet.

use super::prelude::*;
use std::net::Ipv4Addr;

use super::describe_nat_gateways::{NatGatewayView, view};
use crate::model::nat_gateway::Connectivity;
use crate::rules::nat_gateways;

pub struct CreateNatGateway;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    subnet_id: Option<String>,
    allocation_id: Option<String>,
    connectivity_type: Option<Connectivity>,
    private_ip_address: Option<Ipv4Addr>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    nat_gateway: NatGatewayView,
    client_token: Option<String>,
}

impl Action for CreateNatGateway {
    const NAME: &'static str = "CreateNatGateway";
    const ACCEPTS: Accepts = Accepts { client_token: true, tags: &["natgateway"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let subnet = request.subnet_id.ok_or_else(|| ApiError::missing_parameter("SubnetId"))?;
        let connectivity = request.connectivity_type.unwrap_or(Connectivity::Public);
        let allocation = request.allocation_id.as_deref();
        let id = nat_gateways::create(call, &subnet, connectivity, allocation, request.private_ip_address)?;
        let nat_gateway = view(call.account.nat_gateways.find(&id)?);
        Ok(Response { nat_gateway, client_token: call.common.client_token.clone() })
    }
}
