//! Lists egress-only internet gateways.

use super::prelude::*;
use crate::model::egress_only_internet_gateway::EgressOnlyInternetGateway;
use crate::view::{TagView, tags};

pub struct DescribeEgressOnlyInternetGateways;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    egress_only_internet_gateway_id: Vec<String>,
}

static FILTERS: Filters<EgressOnlyInternetGateway> = Filters::of(&[]);

impl Action for DescribeEgressOnlyInternetGateways {
    const NAME: &'static str = "DescribeEgressOnlyInternetGateways";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<EgressOnlyView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<EgressOnlyView>> {
        let asked = &request.egress_only_internet_gateway_id;
        // Unlike with anything else, EC2 leaves out those that do not exist.
        let mut ids = Vec::new();
        for id in asked {
            match call.account.egress_only_internet_gateways.find(id) {
                Ok(_) => ids.push(id.clone()),
                Err(error) if error.code.ends_with(".NotFound") => {}
                Err(error) => return Err(error),
            }
        }
        if ids.is_empty() && !asked.is_empty() {
            return Ok(Listing::none("egressOnlyInternetGatewaySet"));
        }
        let page = call.select(&call.account.egress_only_internet_gateways, &ids, &FILTERS)?;
        Ok(page.listing("egressOnlyInternetGatewaySet", view))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EgressOnlyView {
    egress_only_internet_gateway_id: String,
    attachment_set: Vec<AttachmentView>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttachmentView {
    vpc_id: String,
    state: &'static str,
}

pub fn view(gateway: &EgressOnlyInternetGateway) -> EgressOnlyView {
    EgressOnlyView {
        egress_only_internet_gateway_id: gateway.id.to_string(),
        attachment_set: vec![AttachmentView { vpc_id: gateway.vpc_id.to_string(), state: "attached" }],
        tag_set: tags(&gateway.tags),
    }
}
