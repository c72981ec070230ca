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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    internet_gateway_set: Vec<InternetGatewayView>,
    next_token: Option<String>,
}

static FILTERS: Filters<InternetGateway> =
    Filters::of(&[("owner-id", Same(|account| account.id.to_string()))]);

impl Action for DescribeInternetGateways {
    const NAME: &'static str = "DescribeInternetGateways";
    const ACCEPTS: Accepts = Accepts::PAGES;
    type Request = Request;
    type Response = Response;

    fn filters() -> Vec<&'static str> {
        FILTERS.names()
    }

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let page = call.select(&call.account.internet_gateways, &request.internet_gateway_id, &FILTERS)?;
        Ok(Response {
            internet_gateway_set: page.items.iter().map(|gateway| view(gateway, call.account)).collect(),
            next_token: page.next_token,
        })
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
