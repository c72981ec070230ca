//! What an instance wrote to its console: nothing, as long as no machine is behind it.

use super::prelude::*;
use crate::core::text::moment;

pub struct GetConsoleOutput;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
    #[expect(dead_code, reason = "accepted without effect")]
    #[serde(default)]
    latest: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_id: String,
    timestamp: String,
    output: Option<String>,
}

impl Action for GetConsoleOutput {
    const NAME: &'static str = "GetConsoleOutput";
    const WITHOUT_EFFECT: &'static [&'static str] = &["Latest"];
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let instance = call.account.instances.find(&request.instance_id)?;
        Ok(Response { instance_id: instance.id.to_string(), timestamp: moment(call.now), output: None })
    }
}
