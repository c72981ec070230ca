//! Lists key pairs.

use super::prelude::*;
use crate::core::text::moment;
use crate::model::key_pair::{KeyPair, KeyType};
use crate::view::{TagView, tags};

pub struct DescribeKeyPairs;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    #[serde(default)]
    key_name: Vec<String>,
    #[serde(default)]
    key_pair_id: Vec<String>,
    #[serde(default)]
    include_public_key: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    key_set: Vec<KeyPairView>,
}

static FILTERS: Filters<KeyPair> = Filters::of(&[]);

impl Action for DescribeKeyPairs {
    const NAME: &'static str = "DescribeKeyPairs";
    const ACCEPTS: Accepts = Accepts::filters(|| FILTERS.names());
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let mut ids = request.key_pair_id;
        for name in &request.key_name {
            let key = call.account.key_pairs.with(KeyPair::BY_NAME, name).next();
            let key = key.ok_or_else(|| {
                ApiError::client("InvalidKeyPair.NotFound", format!("The key pair '{name}' does not exist"))
            })?;
            ids.push(key.id.to_string());
        }
        let page = call.select(&call.account.key_pairs, &ids, &FILTERS)?;
        Ok(Response { key_set: page.items.iter().map(|key| view(key, request.include_public_key)).collect() })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyPairView {
    key_pair_id: String,
    key_name: String,
    key_fingerprint: String,
    key_type: KeyType,
    create_time: String,
    public_key: Option<String>,
    tag_set: Vec<TagView>,
}

fn view(key: &KeyPair, with_public_key: bool) -> KeyPairView {
    KeyPairView {
        key_pair_id: key.id.to_string(),
        key_name: key.name.clone(),
        key_fingerprint: key.fingerprint.clone(),
        key_type: key.key_type,
        create_time: moment(key.created),
        public_key: with_public_key.then(|| key.public_key.clone()),
        tag_set: tags(&key.tags),
    }
}
