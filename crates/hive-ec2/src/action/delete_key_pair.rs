//! Forgets a key pair; one that is not there is no error, as in EC2.

use super::prelude::*;
use crate::model::key_pair::KeyPair;

pub struct DeleteKeyPair;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    key_name: Option<String>,
    key_pair_id: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    #[serde(rename = "return")]
    done: bool,
    key_pair_id: Option<String>,
}

impl Action for DeleteKeyPair {
    const NAME: &'static str = "DeleteKeyPair";
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let found = match (&request.key_name, &request.key_pair_id) {
            (Some(name), None) => call.account.key_pairs.with(KeyPair::BY_NAME, name).next(),
            (None, Some(id)) => call.account.key_pairs.get(id),
            _ => return Err(ApiError::missing_parameter("KeyName")),
        };
        let id = found.map(|key| key.id.clone());
        if let Some(id) = &id {
            call.account.key_pairs.remove(id);
        }
        Ok(Response { done: true, key_pair_id: id.map(|id| id.to_string()) })
    }
}
