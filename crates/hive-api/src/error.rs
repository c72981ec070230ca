//! An API error: the HTTP status, the exact code that clients match on, and a message for people.

use std::borrow::Cow;

pub type ApiResult<T> = Result<T, ApiError>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ApiError {
    pub status: u16,
    pub code: Cow<'static, str>,
    pub message: String,
}

impl ApiError {
    /// A mistake of the caller: status 400, as EC2 answers nearly all of them.
    pub fn client(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status: 400, code: code.into(), message: message.into() }
    }

    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub fn missing_parameter(name: &str) -> Self {
        Self::client("MissingParameter", format!("The request must contain the parameter {name}"))
    }

    pub fn invalid_value(parameter: &str, value: &str, why: &str) -> Self {
        Self::client(
            "InvalidParameterValue",
            format!("Value ({value}) for parameter {parameter} is invalid. {why}"),
        )
    }

    pub fn invalid_combination(message: impl Into<String>) -> Self {
        Self::client("InvalidParameterCombination", message)
    }

    pub fn unknown_parameter(name: &str) -> Self {
        Self::client("UnknownParameter", format!("The parameter {name} is not recognized"))
    }

    pub fn invalid_action(name: &str, version: &str) -> Self {
        let version = if version.is_empty() { "this endpoint" } else { version };
        Self::client("InvalidAction", format!("The action {name} is not valid for {version}."))
    }

    pub fn malformed_query(message: impl Into<String>) -> Self {
        Self::client("MalformedQueryString", message)
    }

    /// A fault of ours. The message must not hold internals: clients print it.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::client("InternalError", message).with_status(500)
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::client("Unavailable", message).with_status(503)
    }
}
