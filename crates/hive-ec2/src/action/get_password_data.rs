//! The password of a Windows instance: none here is one, so it is empty, as in EC2.

use super::prelude::*;
use crate::core::text::moment;

pub struct GetPasswordData;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    instance_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    instance_id: String,
    timestamp: String,
    password_data: &'static str,
}

impl Action for GetPasswordData {
    const NAME: &'static str = "GetPasswordData";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let instance = call.account.instances.find(&request.instance_id)?;
        Ok(Response { instance_id: instance.id.to_string(), timestamp: moment(call.now), password_data: "" })
    }
}
