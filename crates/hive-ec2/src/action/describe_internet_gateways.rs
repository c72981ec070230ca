//! Lists internet gateways.

use super::prelude::*;
use crate::model::internet_gateway::InternetGateway;
use crate::view::{TagView, tags};

pub struct DescribeInternetGateways;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    internet_gateway_id: Vec<String>,
}

static FILTERS: Filters<InternetGateway> =
    Filters::of(&[("owner-id", Same(|account| account.id.to_string()))]);

impl Action for DescribeInternetGateways {
    const NAME: &'static str = "DescribeInternetGateways";
    const ACCEPTS: Accepts = Accepts::pages(|| FILTERS.names());
    type Request = Request;
    type Response = Listing<InternetGatewayView>;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Listing<InternetGatewayView>> {
        let page = call.select(&call.account.internet_gateways, &request.internet_gateway_id, &FILTERS)?;
        Ok(page.listing("internetGatewaySet", |gateway| view(gateway, call.account)))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InternetGatewayView {
    internet_gateway_id: String,
    owner_id: String,
    attachment_set: Vec<AttachmentView>,
    tag_set: Vec<TagView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttachmentView {
    vpc_id: String,
    state: &'static str,
}

pub fn view(gateway: &InternetGateway, account: &Account) -> InternetGatewayView {
    let attachments = gateway.vpc_id.iter();
    InternetGatewayView {
        internet_gateway_id: gateway.id.to_string(),
        owner_id: account.id.to_string(),
        attachment_set: attachments
            .map(|id| AttachmentView { vpc_id: id.to_string(), state: "available" })
            .collect(),
        tag_set: tags(&gateway.tags),
    }
}
