//! The check itself, in an order that tells a client its real mistake without telling an attacker more.

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use jiff::Timestamp;
use jiff::civil::DateTime;
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::ALGORITHM;
use super::authorization::{Authorization, Scope, incomplete};
use super::canonical::{canonical_request, sha256_hex};
use super::secret_key::SecretKey;
use crate::error::{ApiError, ApiResult};
use crate::hex;

pub const MAX_SKEW_SECONDS: i64 = 15 * 60;

pub struct SignedRequest<'a> {
    pub method: &'a str,
    pub path: &'a str,
    /// The query string, decoded, in order.
    pub query: &'a [(String, String)],
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// What the verifier must know of an access key.
#[derive(Clone)]
pub struct Credential<Principal> {
    pub secret_access_key: SecretKey,
    /// Temporary keys come with a token that must be sent along.
    pub session_token: Option<String>,
    pub expires: Option<Timestamp>,
    pub principal: Principal,
}

#[derive(Debug)]
pub struct Verified<Principal> {
    pub principal: Principal,
    pub scope: Scope,
}

/// Verifies `request` against the credential that `lookup` knows for its access key.
pub fn verify<P>(
    request: &SignedRequest<'_>,
    now: Timestamp,
    lookup: impl FnOnce(&str) -> Option<Credential<P>>,
) -> ApiResult<Verified<P>> {
    let authorization = Authorization::find(request.headers, request.query)?;
    check_signed_headers(request, &authorization)?;
    check_time(&authorization, now)?;
    let credential = lookup(&authorization.scope.access_key_id).ok_or_else(unknown_key)?;
    let body_hash = sha256_hex(request.body);
    if let Some(claimed) = request.headers.get("x-amz-content-sha256")
        && claimed.as_bytes() != body_hash.as_bytes()
    {
        return Err(mismatch("The body does not have the hash that x-amz-content-sha256 names"));
    }
    let canonical = canonical_request(
        request.method,
        request.path,
        request.query,
        request.headers,
        &authorization.signed_headers,
        &body_hash,
    )?;
    let to_sign = format!(
        "{ALGORITHM}\n{}\n{}\n{}",
        authorization.date,
        authorization.scope.without_key(),
        sha256_hex(canonical.as_bytes())
    );
    let expected =
        hex(&mac(&credential.secret_access_key.signing_key(&authorization.scope), to_sign.as_bytes()));
    if !bool::from(expected.as_bytes().ct_eq(authorization.signature.as_bytes())) {
        return Err(mismatch(
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret \
             Access Key and signing method. Consult the service documentation for details.",
        ));
    }
    check_session(&credential, &authorization, now)?;
    Ok(Verified { principal: credential.principal, scope: authorization.scope })
}

/// `host` and every `x-amz-*` header must be signed: an unsigned one could be added on the way.
fn check_signed_headers(request: &SignedRequest<'_>, authorization: &Authorization) -> ApiResult<()> {
    let signed = &authorization.signed_headers;
    let required =
        request.headers.keys().map(http::HeaderName::as_str).filter(|name| name.starts_with("x-amz-"));
    for name in std::iter::once("host").chain(required) {
        if !signed.iter().any(|header| header == name) {
            return Err(mismatch(&format!("The header {name} must be signed")));
        }
    }
    if signed.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(incomplete("SignedHeaders must be sorted and without repetition"));
    }
    Ok(())
}

fn check_time(authorization: &Authorization, now: Timestamp) -> ApiResult<()> {
    let date = DateTime::strptime("%Y%m%dT%H%M%SZ", &authorization.date)
        .ok()
        .and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC).ok())
        .ok_or_else(|| incomplete("X-Amz-Date must be yyyymmddThhmmssZ"))?
        .timestamp();
    if !authorization.date.starts_with(&format!("{}T", authorization.scope.day)) {
        return Err(mismatch("The day in Credential is not the day of X-Amz-Date"));
    }
    let age = now.as_second() - date.as_second();
    let lifetime = authorization.expires.unwrap_or(MAX_SKEW_SECONDS);
    if age > lifetime || age < -MAX_SKEW_SECONDS {
        return Err(ApiError::client("RequestExpired", "Request has expired."));
    }
    Ok(())
}

fn check_session<P>(
    credential: &Credential<P>,
    authorization: &Authorization,
    now: Timestamp,
) -> ApiResult<()> {
    let sent = authorization.session_token.as_deref().unwrap_or_default();
    let expected = credential.session_token.as_deref().unwrap_or_default();
    if !bool::from(expected.as_bytes().ct_eq(sent.as_bytes())) {
        return Err(unknown_key());
    }
    if credential.expires.is_some_and(|expires| expires <= now) {
        return Err(ApiError::client(
            "ExpiredToken",
            "The security token included in the request is expired",
        )
        .with_status(403));
    }
    Ok(())
}

pub(super) fn mac(key: &[u8], data: &[u8]) -> [u8; 32] {
    // HMAC takes keys of any length, so this cannot fail.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts any key length");
    mac.update(data);
    mac.finalize().into_bytes().into()
}

fn unknown_key() -> ApiError {
    ApiError::client("AuthFailure", "AWS was not able to validate the provided access credentials")
        .with_status(401)
}

fn mismatch(message: &str) -> ApiError {
    ApiError::client("SignatureDoesNotMatch", message).with_status(403)
}
