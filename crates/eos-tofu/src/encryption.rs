//! Encryption of state and plans by tofu itself, with a key that only the estate's recipients can open.
//!
//! tofu runs a program for the key (its `external` key provider), so the key is in no environment, argument or file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use camino::Utf8PathBuf;
use serde_json::json;
use zeroize::Zeroizing;

/// The program that tofu runs for the key, with its arguments: `[eos, "__state-key", "--estate", DIR]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encryption {
    pub command: Vec<String>,
}

/// What tofu wrote to the key program was not a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no request of tofu for a state key: {0}")]
pub struct BadKeyRequest(pub String);

impl Encryption {
    pub fn by_command(program: Utf8PathBuf, arguments: impl IntoIterator<Item = String>) -> Encryption {
        Encryption { command: std::iter::once(program.into_string()).chain(arguments).collect() }
    }

    /// TF_ENCRYPTION. References are plain strings here; `enforced` refuses to write anything unencrypted.
    pub fn to_json(&self) -> String {
        let used = json!({ "method": "method.aes_gcm.eos", "enforced": true });
        json!({
            "key_provider": { "external": { "eos": { "command": self.command } } },
            "method": { "aes_gcm": { "eos": { "keys": "key_provider.external.eos" } } },
            "state": used,
            "plan": used,
        })
        .to_string()
    }
}

/// The line that opens tofu's protocol for key programs, version 1.
const HEADER: &str = r#"{"magic":"OpenTofu-External-Key-Provider","version":1}"#;
/// Goes into the unencrypted head of what is encrypted; says which kind of key it was, for a later change of keys.
const KEY_KIND: &str = "estate-1";

/// All that the key program prints, given the estate's key and what tofu wrote to its standard input: `null` for a key to
/// encrypt with, or the metadata of what is to be decrypted.
///
/// tofu reads the header before it writes the request; printing both at once after reading is fine too.
pub fn state_key_response(key: &[u8; 32], input: &[u8]) -> Result<Zeroizing<String>, BadKeyRequest> {
    let request: serde_json::Value =
        serde_json::from_slice(input).map_err(|error| BadKeyRequest(error.to_string()))?;
    let key = Zeroizing::new(STANDARD.encode(key));
    let keys = match &request {
        serde_json::Value::Null => format!(r#"{{"encryption_key":"{}"}}"#, *key),
        serde_json::Value::Object(metadata) => {
            let kind = metadata.get("external_data").and_then(|data| data.get("key"));
            match kind.and_then(|kind| kind.as_str()) {
                Some(KEY_KIND) => format!(r#"{{"encryption_key":"{}","decryption_key":"{}"}}"#, *key, *key),
                other => {
                    let other = other.unwrap_or("none");
                    return Err(BadKeyRequest(format!("it was encrypted with a key of kind `{other}`")));
                }
            }
        }
        _ => return Err(BadKeyRequest("it is neither null nor an object".into())),
    };
    let keys = Zeroizing::new(keys);
    let meta = json!({ "external_data": { "key": KEY_KIND } });
    Ok(Zeroizing::new(format!("{HEADER}\n{{\"keys\":{},\"meta\":{meta}}}\n", *keys)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_given_for_writing_and_for_what_was_written_with_it() {
        let key = [7; 32];
        let answer = state_key_response(&key, b"null").unwrap();
        let (header, body) = answer.split_once('\n').unwrap();
        assert_eq!(header, HEADER);
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["keys"]["encryption_key"], STANDARD.encode(key));
        assert!(body["keys"].get("decryption_key").is_none());
        let again = state_key_response(&key, body["meta"].to_string().as_bytes()).unwrap();
        assert!(again.contains("decryption_key"));
    }

    #[test]
    fn both_are_encrypted_and_nothing_else_is_accepted() {
        let encryption = Encryption::by_command("/bin/eos".into(), ["__state-key".to_owned()]);
        let document: serde_json::Value = serde_json::from_str(&encryption.to_json()).unwrap();
        for part in ["state", "plan"] {
            assert_eq!(document[part], json!({"method": "method.aes_gcm.eos", "enforced": true}));
        }
        let command = &document["key_provider"]["external"]["eos"]["command"];
        assert_eq!(*command, json!(["/bin/eos", "__state-key"]));
    }

    #[test]
    fn other_requests_are_refused_without_a_key() {
        for input in [&b""[..], b"{", b"1", b"{}", br#"{"external_data":{"key":"estate-2"}}"#] {
            let error = state_key_response(&[7; 32], input).unwrap_err();
            assert!(!error.to_string().contains(&STANDARD.encode([7; 32])));
        }
    }
}
