//! Temporary keys without a list of them: everything about a session is in its token, sealed with the secret of
//! the key that asked for it. Whoever changes a byte has no session, and taking the key away ends all of its
//! sessions.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use std::sync::Arc;

use hive_api::sigv4::{Credential, SecretKey};

use crate::request::Principal;

/// What a token says.
#[derive(Serialize, Deserialize)]
struct Claims {
    issuer: String,
    access_key_id: String,
    expires: Timestamp,
    arn: String,
    user_id: String,
}

/// A new temporary key.
pub(crate) struct Session {
    pub access_key_id: String,
    pub secret_access_key: String,
    pub token: String,
    pub expires: Timestamp,
}

fn mac(secret: &str, purpose: &str, text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC accepts any key length");
    // The purpose keeps a seal from being used as a secret.
    mac.update(purpose.as_bytes());
    mac.update(&[0]);
    mac.update(text.as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// Issues a session of a key, id and secret, for whoever `arn` and `user_id` name.
pub(crate) fn issue(
    (issuer, secret): &(String, String),
    (arn, user_id): (String, String),
    seconds: i64,
    now: Timestamp,
) -> Session {
    let mut random = [0; 10];
    crate::gateway::fill_random(&mut random);
    let digits: String = random.iter().map(|byte| format!("{byte:02X}")).collect();
    let access_key_id = format!("ASIA{}", &digits[..16]);
    let expires = now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
    let claims =
        Claims { issuer: issuer.clone(), access_key_id: access_key_id.clone(), expires, arn, user_id };
    let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&claims).unwrap_or_default());
    let token = format!("{payload}.{}", mac(secret, "seal", &payload));
    Session { access_key_id, secret_access_key: mac(secret, "secret", &payload), token, expires }
}

/// The credential that a token describes, if the key that issued it is known and the seal is good. Expiry and
/// the comparison of the token itself are the verifier's.
pub(crate) fn open(
    access_key_id: &str,
    token: &str,
    issuer: impl FnOnce(&str) -> Option<Credential<Arc<Principal>>>,
) -> Option<Credential<Arc<Principal>>> {
    let (payload, seal) = token.split_once('.')?;
    let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    let issuer = issuer(&claims.issuer)?;
    let expected = mac(issuer.secret_access_key.expose(), "seal", payload);
    let genuine = bool::from(subtle::ConstantTimeEq::ct_eq(expected.as_bytes(), seal.as_bytes()));
    (genuine && claims.access_key_id == access_key_id).then(|| Credential {
        secret_access_key: SecretKey::new(mac(issuer.secret_access_key.expose(), "secret", payload)),
        session_token: Some(token.to_owned()),
        expires: Some(claims.expires),
        principal: Arc::new(Principal {
            account: issuer.principal.account.clone(),
            arn: claims.arn,
            user_id: claims.user_id,
            key: issuer.principal.key.clone(),
            is_session: true,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(secret: &str) -> Credential<Arc<Principal>> {
        Credential {
            secret_access_key: SecretKey::new(secret),
            session_token: None,
            expires: None,
            principal: Arc::new(Principal {
                account: hive_ec2::AccountId::new("1"),
                arn: "arn".into(),
                user_id: "id".into(),
                key: ("AKIA".into(), secret.into()),
                is_session: false,
            }),
        }
    }

    #[test]
    fn a_token_opens_only_unchanged_and_with_its_issuer() {
        let session =
            issue(&("AKIA".into(), "secret".into()), ("arn:x".into(), "u".into()), 60, Timestamp::UNIX_EPOCH);
        let opened = open(&session.access_key_id, &session.token, |_| Some(issuer("secret"))).unwrap();
        assert_eq!(opened.secret_access_key.expose(), session.secret_access_key);
        assert_eq!(opened.principal.arn, "arn:x");
        assert!(open(&session.access_key_id, &session.token, |_| Some(issuer("other"))).is_none());
        assert!(open("ASIAOTHER", &session.token, |_| Some(issuer("secret"))).is_none());
        assert!(open(&session.access_key_id, &session.token, |_| None).is_none());
        let mut forged = session.token.clone();
        forged.insert(3, 'A');
        assert!(open(&session.access_key_id, &forged, |_| Some(issuer("secret"))).is_none());
    }
}
