//! Sets how the instance can read about itself.

use super::prelude::*;
use crate::model::instance::{Switch, Tokens};
use crate::rules::launch::check_hop_limit;
use crate::rules::power;
use crate::view::instance::{MetadataView, metadata};

pub struct ModifyInstanceMetadataOptions;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    http_tokens: Option<Tokens>,
    http_put_response_hop_limit: Option<u32>,
    http_endpoint: Option<Switch>,
    http_protocol_ipv6: Option<Switch>,
    instance_metadata_tags: Option<Switch>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_id: String,
    instance_metadata_options: MetadataView,
}

impl Action for ModifyInstanceMetadataOptions {
    const NAME: &'static str = "ModifyInstanceMetadataOptions";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let id = request.instance_id;
        let options = &mut power::edit(call.account, &id)?.options.metadata;
        check_hop_limit(request.http_put_response_hop_limit)?;
        options.http_tokens = request.http_tokens.unwrap_or(options.http_tokens);
        options.http_put_response_hop_limit =
            request.http_put_response_hop_limit.unwrap_or(options.http_put_response_hop_limit);
        options.http_endpoint = request.http_endpoint.unwrap_or(options.http_endpoint);
        options.http_protocol_ipv6 = request.http_protocol_ipv6.unwrap_or(options.http_protocol_ipv6);
        options.instance_metadata_tags =
            request.instance_metadata_tags.unwrap_or(options.instance_metadata_tags);
        Ok(Response { instance_id: id, instance_metadata_options: metadata(options) })
    }
}
