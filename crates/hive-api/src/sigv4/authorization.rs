//! Where a signature comes from: the Authorization header, or `X-Amz-*` in the query of a presigned request.

use http::HeaderMap;

use super::ALGORITHM;
use crate::error::{ApiError, ApiResult};

/// `AKID/20261116/eu-west-1/ec2/aws4_request`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub access_key_id: String,
    pub day: String,
    pub region: String,
    pub service: String,
}

impl Scope {
    fn parse(text: &str) -> ApiResult<Scope> {
        let parts: Vec<&str> = text.split('/').collect();
        match parts.as_slice() {
            [key, day, region, service, "aws4_request"] if !key.is_empty() => Ok(Scope {
                access_key_id: (*key).to_owned(),
                day: (*day).to_owned(),
                region: (*region).to_owned(),
                service: (*service).to_owned(),
            }),
            _ => Err(incomplete("Credential must be AKID/yyyymmdd/region/service/aws4_request")),
        }
    }

    pub(super) fn without_key(&self) -> String {
        format!("{}/{}/{}/aws4_request", self.day, self.region, self.service)
    }
}

pub(super) struct Authorization {
    pub scope: Scope,
    pub signed_headers: Vec<String>,
    pub signature: String,
    /// `20261116T040415Z`
    pub date: String,
    pub session_token: Option<String>,
    /// Seconds of validity; only a presigned request has them.
    pub expires: Option<i64>,
}

impl Authorization {
    pub fn find(headers: &HeaderMap, query: &[(String, String)]) -> ApiResult<Authorization> {
        match headers.get(http::header::AUTHORIZATION) {
            Some(value) => {
                let text = value.to_str().map_err(|_| incomplete("Authorization is not plain text"))?;
                Self::from_header(text, headers)
            }
            None if query.iter().any(|(name, _)| name == "X-Amz-Signature") => Self::from_query(query),
            None => {
                Err(ApiError::client("MissingAuthenticationToken", "Request is missing Authentication Token")
                    .with_status(403))
            }
        }
    }

    fn from_header(text: &str, headers: &HeaderMap) -> ApiResult<Authorization> {
        let rest = text
            .strip_prefix(ALGORITHM)
            .ok_or_else(|| incomplete(&format!("Authorization must start with {ALGORITHM}")))?;
        let field = |name: &str| {
            rest.split(',')
                .find_map(|piece| piece.trim().strip_prefix(name)?.strip_prefix('='))
                .ok_or_else(|| incomplete(&format!("Authorization header requires '{name}' parameter")))
        };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Ok(Authorization {
            scope: Scope::parse(field("Credential")?)?,
            signed_headers: split_headers(field("SignedHeaders")?),
            signature: field("Signature")?.to_owned(),
            date: header("x-amz-date").or_else(|| header("date")).map(basic_date).ok_or_else(|| {
                incomplete(
                    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
                )
            })?,
            session_token: header("x-amz-security-token").map(str::to_owned),
            expires: None,
        })
    }

    fn from_query(query: &[(String, String)]) -> ApiResult<Authorization> {
        let optional = |name: &str| query.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let field = |name: &str| optional(name).ok_or_else(|| incomplete(&format!("{name} is missing")));
        if field("X-Amz-Algorithm")? != ALGORITHM {
            return Err(incomplete(&format!("X-Amz-Algorithm must be {ALGORITHM}")));
        }
        let expires: i64 = field("X-Amz-Expires")?
            .parse()
            .map_err(|_| incomplete("X-Amz-Expires must be a number of seconds"))?;
        if !(1..=604_800).contains(&expires) {
            return Err(incomplete("X-Amz-Expires must be between 1 and 604800 seconds"));
        }
        Ok(Authorization {
            scope: Scope::parse(field("X-Amz-Credential")?)?,
            signed_headers: split_headers(field("X-Amz-SignedHeaders")?),
            signature: field("X-Amz-Signature")?.to_owned(),
            date: field("X-Amz-Date")?.to_owned(),
            session_token: optional("X-Amz-Security-Token").map(str::to_owned),
            expires: Some(expires),
        })
    }
}

/// HTTP's own `Date` is written for people; what is signed is not.
fn basic_date(text: &str) -> String {
    match jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text) {
        Ok(date) => date.strftime("%Y%m%dT%H%M%SZ").to_string(),
        Err(_) => text.to_owned(),
    }
}

fn split_headers(text: &str) -> Vec<String> {
    text.split(';').map(str::to_owned).collect()
}

pub(super) fn incomplete(message: &str) -> ApiError {
    ApiError::client("IncompleteSignature", message)
}
