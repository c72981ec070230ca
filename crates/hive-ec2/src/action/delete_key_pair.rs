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
        let keys = &call.account.key_pairs;
        let by_name = request.key_name.as_deref().map(|name| keys.with(KeyPair::BY_NAME, name).next());
        let by_id = request.key_pair_id.as_deref().map(|id| keys.get(id));
        let id = |found: Option<&KeyPair>| found.map(|key| key.id.clone());
        let id = match (by_name.map(id), by_id.map(id)) {
            (None, None) => return Err(ApiError::missing_parameter("KeyName")),
            (Some(named), Some(found)) if named != found => {
                return Err(ApiError::invalid_combination(
                    "KeyName and KeyPairId are of different key pairs",
                ));
            }
            (Some(found), _) | (None, Some(found)) => found,
        };
        if let Some(id) = &id {
            call.account.key_pairs.remove(id);
        }
        Ok(Response { done: true, key_pair_id: id.map(|id| id.to_string()) })
    }
}
