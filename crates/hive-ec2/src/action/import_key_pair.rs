//! Takes the public half of a key pair that was made elsewhere.

use super::prelude::*;
use crate::model::key_pair::KeyPair;
use crate::rules::keys;
use crate::view::{TagView, tags};

pub struct ImportKeyPair;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    key_name: String,
    public_key_material: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    key_name: String,
    key_fingerprint: String,
    key_pair_id: String,
    tag_set: Vec<TagView>,
}

impl Action for ImportKeyPair {
    const NAME: &'static str = "ImportKeyPair";
    const ACCEPTS: Accepts = Accepts { tags: &["key-pair"], ..Accepts::NONE };
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        let name = request.key_name;
        check_name(call.account, &name)?;
        let public = keys::import(&request.public_key_material)?;
        let key = KeyPair {
            id: call.new_id(),
            name,
            key_type: public.key_type,
            fingerprint: public.fingerprint,
            public_key: public.text,
            created: call.now,
            tags: call.new_tags::<KeyPair>(),
        };
        let response = Response {
            key_name: key.name.clone(),
            key_fingerprint: key.fingerprint.clone(),
            key_pair_id: key.id.to_string(),
            tag_set: tags(&key.tags),
        };
        call.account.key_pairs.insert(key);
        Ok(response)
    }
}

/// Not empty, not too long, not taken.
pub fn check_name(account: &Account, name: &str) -> ApiResult<()> {
    if name.is_empty() || name.chars().count() > 255 {
        return Err(ApiError::invalid_value("KeyName", name, "It must have 1 to 255 characters."));
    }
    if account.key_pairs.with(KeyPair::BY_NAME, name).next().is_some() {
        return Err(ApiError::client(
            "InvalidKeyPair.Duplicate",
            format!("The keypair '{name}' already exists."),
        ));
    }
    Ok(())
}
