//! STS: who is asking, and temporary keys. Until there is IAM, every role of one's own account exists and may
//! do what the account may; other accounts' roles do not.

use hive_api::{ApiError, ApiResult, Params, decode, xml};
use hive_ec2::Engine;
use hive_ec2::core::text::iam_id;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::request::Principal;
use crate::sessions::{self, Session};

/// Name, parameters, and those without effect.
pub(crate) const ACTIONS: &[(&str, &[&str], &[&str])] = &[
    (
        "AssumeRole",
        &[
            "DurationSeconds",
            "ExternalId",
            "RoleArn",
            "RoleSessionName",
            "SourceIdentity",
            "Tags",
            "TransitiveTagKeys",
        ],
        // Only a policy could look at them.
        &["ExternalId", "SourceIdentity", "Tags", "TransitiveTagKeys"],
    ),
    ("GetCallerIdentity", &[], &[]),
    ("GetSessionToken", &["DurationSeconds"], &[]),
];

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct CallerIdentity {
    arn: String,
    user_id: String,
    account: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct SessionAnswer {
    credentials: Keys,
    assumed_role_user: Option<RoleUser>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Keys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct RoleUser {
    assumed_role_id: String,
    arn: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SessionTokenRequest {
    duration_seconds: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AssumeRoleRequest {
    role_arn: String,
    role_session_name: String,
    duration_seconds: Option<i64>,
}

pub(crate) fn call(
    engine: &Engine,
    principal: &Principal,
    action: &str,
    params: &Params,
    now: Timestamp,
) -> ApiResult<String> {
    let Some((action, known, _)) = ACTIONS.iter().find(|(name, ..)| *name == action) else {
        return Err(ApiError::invalid_action(action, "2011-06-15"));
    };
    let unknown =
        params.children().map(|(name, _)| name.to_owned()).filter(|name| !known.contains(&name.as_str()));
    engine.refuse_or_count(action, &unknown.collect::<Vec<_>>(), params)?;
    match *action {
        "GetCallerIdentity" => answer(&CallerIdentity {
            arn: principal.arn.clone(),
            user_id: principal.user_id.clone(),
            account: principal.account.to_string(),
        }),
        "GetSessionToken" => session_token(principal, &decode(params)?.request, now),
        _ => assume_role(principal, &decode(params)?.request, now),
    }
}

fn answer(response: &impl Serialize) -> ApiResult<String> {
    xml::to_content(response).map_err(|error| ApiError::internal(error.to_string()))
}

fn denied(message: &str) -> ApiError {
    ApiError::client("AccessDenied", message).with_status(403)
}

fn duration(asked: Option<i64>, default: i64, most: i64) -> ApiResult<i64> {
    let seconds = asked.unwrap_or(default);
    if (900..=most).contains(&seconds) {
        return Ok(seconds);
    }
    let message = format!("DurationSeconds must be between 900 and {most}");
    Err(ApiError::client("ValidationError", message))
}

fn keys(session: Session) -> Keys {
    Keys {
        access_key_id: session.access_key_id,
        secret_access_key: session.secret_access_key,
        session_token: session.token,
        expiration: session.expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}

fn session_token(principal: &Principal, request: &SessionTokenRequest, now: Timestamp) -> ApiResult<String> {
    if principal.is_session {
        return Err(denied("Cannot call GetSessionToken with session credentials"));
    }
    let seconds = duration(request.duration_seconds, 43_200, 129_600)?;
    let who = (principal.arn.clone(), principal.user_id.clone());
    let session = sessions::issue(&principal.key, who, seconds, now);
    answer(&SessionAnswer { credentials: keys(session), assumed_role_user: None })
}

/// The account and the name, without its path, in the ARN of a role.
fn role_of(arn: &str) -> Option<(&str, &str)> {
    let [scheme, partition, service, region, account, resource] =
        *arn.splitn(6, ':').collect::<Vec<_>>().as_slice()
    else {
        return None;
    };
    let path = resource.strip_prefix("role/")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_+=,.@-/".contains(c);
    let is_role = scheme == "arn"
        && partition.starts_with("aws")
        && service == "iam"
        && region.is_empty()
        && account.len() == 12
        && account.bytes().all(|digit| digit.is_ascii_digit())
        && path.chars().all(plain);
    let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
    is_role.then_some((account, name))
}

fn assume_role(principal: &Principal, request: &AssumeRoleRequest, now: Timestamp) -> ApiResult<String> {
    // A role that a role takes on lasts an hour at most.
    let most = if principal.is_session { 3_600 } else { 43_200 };
    let seconds = duration(request.duration_seconds, 3_600, most)?;
    let arn = &request.role_arn;
    let invalid = || ApiError::client("ValidationError", format!("{arn} is invalid"));
    let (owner, role) = role_of(arn).ok_or_else(invalid)?;
    if *owner != *principal.account {
        let who = &principal.arn;
        return Err(denied(&format!("{who} is not authorized to perform: sts:AssumeRole on {arn}")));
    }
    let name = &request.role_session_name;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_+=,.@-".contains(c);
    if !(2..=64).contains(&name.len()) || !name.chars().all(plain) {
        return Err(ApiError::client(
            "ValidationError",
            "RoleSessionName must be 2 to 64 of [A-Za-z0-9_+=,.@-]",
        ));
    }
    let arn = format!("arn:aws:sts::{}:assumed-role/{role}/{name}", principal.account);
    let id = format!("{}:{name}", iam_id("AROA", &principal.account, role));
    let session = sessions::issue(&principal.key, (arn.clone(), id.clone()), seconds, now);
    let user = RoleUser { assumed_role_id: id, arn };
    answer(&SessionAnswer { credentials: keys(session), assumed_role_user: Some(user) })
}
