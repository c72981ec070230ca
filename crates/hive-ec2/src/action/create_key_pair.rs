//! Makes a key pair; the private half is in the answer and nowhere else.

use super::prelude::*;
use hive_api::Params;

use super::import_key_pair::check_name;
use crate::core::action::Prepare;
use crate::core::call::{Entropy, Prepared};
use crate::core::common::would_succeed;
use crate::model::key_pair::{KeyPair, KeyType};
use crate::rules::key_material;
use crate::view::{TagView, tags};

pub struct CreateKeyPair;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Request {
    key_name: String,
    #[serde(rename = "KeyType")]
    #[expect(dead_code, reason = "read before, by `prepare`")]
    key_type: Option<KeyType>,
    #[expect(dead_code, reason = "there is one to choose")]
    key_format: Option<KeyFormat>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeyFormat {
    Pem,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    key_name: String,
    key_fingerprint: String,
    key_material: String,
    key_pair_id: String,
    tag_set: Vec<TagView>,
}

impl Action for CreateKeyPair {
    const NAME: &'static str = "CreateKeyPair";
    const ACCEPTS: Accepts = Accepts { tags: &["key-pair"], ..Accepts::NONE };
    const PREPARE: Option<Prepare> = Some(prepare);
    type Request = Request;
    type Response = Response;

    fn run(request: Request, call: &mut Call<'_>) -> ApiResult<Response> {
        check_name(call.account, &request.key_name)?;
        let Prepared::KeyMaterial(material) = std::mem::take(&mut call.prepared) else {
            // Only a dry run comes without: nothing is made for it.
            return Err(would_succeed());
        };
        let key = KeyPair {
            id: call.new_id(),
            name: request.key_name,
            key_type: material.key_type,
            fingerprint: material.fingerprint,
            public_key: material.public_key,
            created: call.now,
            tags: call.new_tags::<KeyPair>(),
        };
        let response = Response {
            key_name: key.name.clone(),
            key_fingerprint: key.fingerprint.clone(),
            key_material: material.private_pem,
            key_pair_id: key.id.to_string(),
            tag_set: tags(&key.tags),
        };
        call.account.key_pairs.insert(key);
        Ok(response)
    }
}

fn prepare(params: &Params, entropy: &Entropy) -> ApiResult<Prepared> {
    let key_type = match params.get("KeyType") {
        None | Some("rsa") => KeyType::Rsa,
        Some("ed25519") => KeyType::Ed25519,
        Some(other) => return Err(ApiError::invalid_value("KeyType", other, "Valid values: rsa, ed25519.")),
    };
    key_material::generate(key_type, entropy).map(Prepared::KeyMaterial)
}
