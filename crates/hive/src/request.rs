//! One HTTP request: bounded, authenticated, answered. Nothing is parsed further than the signature needs
//! before the signature is known to be good.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::buf::{Buf, Chain};
use http::header::{CONNECTION, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use jiff::Timestamp;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use hive_api::sigv4::{self, Credential, SignedRequest};
use hive_api::{ApiError, ApiResult, Params, Service, form};
use hive_ec2::{AccountId, Engine};

use crate::key_ring::KeyRing;
use crate::{sessions, sts};

/// Far above the largest real request (16 KiB of user data), far below what would hurt.
const MAX_BODY: usize = 1024 * 1024;
/// A body beyond this needs one of [`LARGE_AT_ONCE`] places, which only a sender with a known key gets: the body comes before
/// its signature can be verified. All bodies together are so bounded by the number of connections times this, and the
/// large ones.
const SMALL_BODY: usize = 16 * 1024;
const LARGE_AT_ONCE: usize = 32;
/// How long a body may take, not counting the wait for a place.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long one that has a place may be silent: others wait for it.
const PLACE_TIMEOUT: Duration = Duration::from_secs(2);

/// In pieces: a long answer is not copied to be one.
type Answer = Chain<Chain<Bytes, Bytes>, Bytes>;

/// Who a request is from.
pub(crate) struct Principal {
    pub account: AccountId,
    pub arn: String,
    pub user_id: String,
    /// The long-lived key, id and secret, that was used, or that issued the session.
    pub key: (String, String),
    pub is_session: bool,
}

pub(crate) struct Endpoint {
    engine: Arc<Engine>,
    keys: Arc<KeyRing>,
    large_bodies: Semaphore,
}

impl Endpoint {
    pub fn new(engine: Arc<Engine>, keys: Arc<KeyRing>) -> Self {
        Self { engine, keys, large_bodies: Semaphore::new(LARGE_AT_ONCE) }
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub fn keys(&self) -> &Arc<KeyRing> {
        &self.keys
    }

    /// Never fails: what goes wrong is an answer too. With it whether the request was read to its end.
    pub async fn answer(&self, request: Request<Incoming>) -> (Response<Full<Answer>>, bool) {
        let request_id = request_id();
        let (parts, body) = request.into_parts();
        // Where the rest of the body is not read, the connection cannot be used again.
        let (body, whole) = match self.read_body(&parts, body).await {
            Ok((body, whole)) => (Ok(body), whole),
            Err(error) => (Err(error), false),
        };
        let mut service = Service::Ec2;
        let mut action = String::new();
        let result = match body {
            Err(error) => Err(error),
            Ok(body) => self.run(&parts, &body, &mut service, &mut action).await,
        };
        let (status, before, content, behind) = match result {
            Ok(content) => {
                let (before, behind) = service.success(&action, &request_id);
                (200, before, content, behind)
            }
            Err(error) => (error.status, service.error(&request_id, &error), String::new(), String::new()),
        };
        let text = Bytes::from(before).chain(Bytes::from(content)).chain(Bytes::from(behind));
        let mut response = Response::new(Full::new(text));
        *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::BAD_REQUEST);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/xml;charset=UTF-8"));
        if let Ok(id) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert("x-amzn-requestid", id);
        }
        if !whole {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        (response, whole)
    }

    /// The body, and whether that is all of it: of a stranger's only the beginning is read, which no signature is of.
    async fn read_body(&self, parts: &Parts, body: Incoming) -> ApiResult<(Bytes, bool)> {
        // What says itself that it is too long is not waited for.
        if body.size_hint().lower() > MAX_BODY as u64 {
            return Err(too_large());
        }
        let mut body = Limited::new(body, MAX_BODY);
        let (mut bytes, mut place, mut left) = (Vec::new(), None, BODY_TIMEOUT);
        loop {
            let patience = if place.is_some() { left.min(PLACE_TIMEOUT) } else { left };
            let began = Instant::now();
            let Some(frame) = timeout(patience, body.frame()).await.map_err(|_| late())? else {
                return Ok((Bytes::from(bytes), true));
            };
            left = left.saturating_sub(began.elapsed());
            let Ok(data) = frame.map_err(broken_body)?.into_data() else { continue };
            if place.is_none() && bytes.len() + data.len() > SMALL_BODY {
                if !self.knows_sender(parts) {
                    return Ok((Bytes::from(bytes), false));
                }
                place = self.large_bodies.acquire().await.ok();
            }
            bytes.extend_from_slice(&data);
        }
    }

    /// Whether the head of a request is a signed one's, of now, and names a key that is known.
    fn knows_sender(&self, parts: &Parts) -> bool {
        let Ok(query) = form::parse(parts.uri.query().unwrap_or_default().as_bytes()) else { return false };
        let signed = signed_request(parts, &query, b"");
        let mut known = false;
        // Without the body it cannot verify: only what it asks for is of interest.
        let _ = sigv4::verify(&signed, Timestamp::now(), |key| {
            let credential = self.credential(key, &signed);
            known = credential.is_some();
            credential
        });
        known
    }

    /// A permanent key, or the session that the request's token describes.
    fn credential(&self, key: &str, request: &SignedRequest<'_>) -> Option<Credential<Arc<Principal>>> {
        if let Some(known) = self.keys.get(key) {
            return Some(known);
        }
        let in_header = request.headers.get("x-amz-security-token").and_then(|value| value.to_str().ok());
        let in_query = || request.query.iter().find(|(name, _)| name == "X-Amz-Security-Token");
        let token = in_header.or_else(|| in_query().map(|(_, value)| value.as_str()))?;
        sessions::open(key, token, |issuer| self.keys.get(issuer))
    }

    async fn run(
        &self,
        parts: &Parts,
        body: &Bytes,
        service: &mut Service,
        action: &mut String,
    ) -> ApiResult<String> {
        if !matches!(parts.method, Method::GET | Method::POST) {
            return Err(ApiError::client("UnsupportedProtocol", "Use GET or POST").with_status(405));
        }
        let mut pairs = form::parse(parts.uri.query().unwrap_or_default().as_bytes())?;
        let signed = signed_request(parts, &pairs, body);
        let now = Timestamp::now();
        let verified = sigv4::verify(&signed, now, |key| self.credential(key, &signed)).map_err(|error| {
            *service = hinted_service(&pairs, body);
            in_words_of(*service, error)
        })?;
        *service = Service::from_scope(&verified.scope.service).ok_or_else(|| {
            let message = format!(
                "This endpoint has EC2 and STS, and no service '{}': the credential should be scoped to ec2 or sts",
                verified.scope.service
            );
            wrong_scope(Service::Ec2, &message)
        })?;
        let region = &verified.scope.region;
        let own = &self.engine.environment().region;
        if region != own && !(*service == Service::Sts && region == "us-east-1") {
            let message = format!("Credential should be scoped to the region {own}, not '{region}'");
            return Err(wrong_scope(*service, &message));
        }
        pairs.extend(form::parse(body)?);
        pairs.retain(|(name, _)| !name.starts_with("X-Amz-"));
        let mut params = Params::from_pairs(pairs)?;
        let version = params.take_value("Version").unwrap_or_default();
        check_version(*service, &version)?;
        let name = params.take_value("Action").ok_or_else(|| {
            ApiError::client("MissingAction", "The request must contain the parameter Action")
        })?;
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) || name.is_empty() {
            return Err(ApiError::invalid_action("given", &version));
        }
        *action = name;
        match service {
            Service::Sts => sts::call(&self.engine, &verified.principal, action, &params, now),
            Service::Ec2 => self.engine.call(&verified.principal.account, action, params).await,
        }
    }
}

/// EC2 answers all its versions up to the last one, of which the answers here are; STS has had one.
fn check_version(service: Service, version: &str) -> Result<(), ApiError> {
    let (is_known, name) = match service {
        Service::Sts => (version == "2011-06-15", "AWSSecurityTokenService"),
        Service::Ec2 => {
            let like = |(at, byte): (usize, u8)| {
                if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() }
            };
            let is_date = version.len() == 10 && version.bytes().enumerate().all(like);
            (is_date && ("2006-06-26"..="2016-11-15").contains(&version), "AmazonEC2")
        }
    };
    if version.is_empty() || is_known {
        return Ok(());
    }
    let message = format!("The requested version ({version}) of service {name} does not exist");
    Err(ApiError::client("NoSuchVersion", message))
}

fn signed_request<'a>(parts: &'a Parts, query: &'a [(String, String)], body: &'a [u8]) -> SignedRequest<'a> {
    let (method, path) = (parts.method.as_str(), parts.uri.path());
    SignedRequest { method, path, query, headers: &parts.headers, body }
}

fn late() -> ApiError {
    ApiError::client("RequestTimeout", "The request did not come to its end in time")
}

fn broken_body(error: Box<dyn std::error::Error + Send + Sync>) -> ApiError {
    if !error.is::<LengthLimitError>() {
        return ApiError::malformed_query("The request ended early");
    }
    too_large()
}

fn too_large() -> ApiError {
    ApiError::client("RequestEntityTooLarge", format!("The request has more than {MAX_BODY} bytes"))
        .with_status(413)
}

/// For the envelope of an authentication error, when there is no scope to go by.
fn hinted_service(query: &[(String, String)], body: &Bytes) -> Service {
    let version = |pairs: &[(String, String)]| {
        pairs.iter().find(|(name, _)| name == "Version").map(|(_, value)| Service::from_version(value))
    };
    let in_body = || version(&form::parse(body).unwrap_or_default());
    version(query).or_else(in_body).unwrap_or(Service::Ec2)
}

/// The two services call an unknown key and a session that is over differently, and clients match on it.
fn in_words_of(service: Service, error: ApiError) -> ApiError {
    match (service, &*error.code) {
        (Service::Sts, "AuthFailure") => {
            ApiError::client("InvalidClientTokenId", "The security token included in the request is invalid.")
                .with_status(403)
        }
        (Service::Ec2, "ExpiredToken") => ApiError::client("RequestExpired", "Request has expired."),
        _ => error,
    }
}

/// So they do with a key that is for another region.
fn wrong_scope(service: Service, message: &str) -> ApiError {
    match service {
        Service::Sts => ApiError::client("SignatureDoesNotMatch", message).with_status(403),
        Service::Ec2 => ApiError::client("AuthFailure", message).with_status(401),
    }
}

/// In the form of a UUID, as clients log it.
fn request_id() -> String {
    let mut bytes = [0; 16];
    crate::gateway::fill_random(&mut bytes);
    let hex = hive_api::hex(&bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_has_its_words_for_a_session_that_is_over() {
        let told = |service| {
            let over = ApiError::client("ExpiredToken", "…").with_status(403);
            let error = in_words_of(service, over);
            (error.code.into_owned(), error.status)
        };
        assert_eq!(told(Service::Ec2), ("RequestExpired".to_owned(), 400));
        assert_eq!(told(Service::Sts), ("ExpiredToken".to_owned(), 403));
    }
}
