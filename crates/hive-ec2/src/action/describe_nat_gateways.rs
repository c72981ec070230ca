//! Lists NAT gateways; deleted ones for an hour.

use super::prelude::*;
use crate::core::text::moment;
use crate::model::nat_gateway::{Connectivity, NatGateway, NatGatewayState};
use crate::view::{TagView, tags};

pub struct DescribeNatGateways;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    nat_gateway_id: Vec<String>,
}

static FILTERS: Filters<NatGateway> = Filters::of(&[]);

impl Action for DescribeNatGateways {
    const NAME: &'static str = "DescribeNatGateways";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<NatGatewayView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<NatGatewayView>> {
        let page = call.select(&call.account.nat_gateways, &request.nat_gateway_id, &FILTERS)?;
        Ok(page.listing("natGatewaySet", view))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NatGatewayView {
    nat_gateway_id: String,
    subnet_id: String,
    vpc_id: String,
    state: NatGatewayState,
    connectivity_type: Connectivity,
    availability_mode: &'static str,
    create_time: String,
    delete_time: Option<String>,
    failure_code: Option<String>,
    failure_message: Option<String>,
    nat_gateway_address_set: Vec<AddressView>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddressView {
    allocation_id: Option<String>,
    association_id: Option<String>,
    network_interface_id: String,
    private_ip: String,
    public_ip: Option<String>,
    is_primary: bool,
    status: &'static str,
}

pub fn view(gateway: &NatGateway) -> NatGatewayView {
    let address = AddressView {
        allocation_id: gateway.allocation_id.as_ref().map(ToString::to_string),
        association_id: gateway.association_id.clone(),
        network_interface_id: gateway.network_interface_id.to_string(),
        private_ip: gateway.private_ip.to_string(),
        public_ip: gateway.public_ip.map(|ip| ip.to_string()),
        is_primary: true,
        status: if gateway.failure.is_some() { "failed" } else { "succeeded" },
    };
    NatGatewayView {
        nat_gateway_id: gateway.id.to_string(),
        subnet_id: gateway.subnet_id.to_string(),
        vpc_id: gateway.vpc_id.to_string(),
        state: gateway.state,
        connectivity_type: gateway.connectivity,
        availability_mode: "zonal",
        create_time: moment(gateway.created),
        delete_time: gateway.deleted.map(moment),
        failure_code: gateway.failure.as_ref().map(|(code, _)| code.clone()),
        failure_message: gateway.failure.as_ref().map(|(_, message)| message.clone()),
        nat_gateway_address_set: vec![address],
        tag_set: tags(&gateway.tags),
    }
}
