//! Who we are to salt-api.

use std::fmt;

use serde_json::Value as Json;
use zeroize::Zeroizing;

use crate::error::SaltError;

/// Prints without its secret.
pub enum Credentials {
    /// A token from an earlier login; it expires.
    Token(Zeroizing<String>),
    /// Logs in by itself, and again when the token has expired.
    Login { user: String, password: Zeroizing<String>, eauth: String },
}

impl Credentials {
    /// From a file's content: a bare token, or JSON `{"username": …, "password": …, "eauth": …}`.
    pub fn parse(text: &str) -> Result<Credentials, SaltError> {
        let text = text.trim();
        let bad = |reason: &str| SaltError::BadCredentials { reason: reason.to_owned() };
        if !text.starts_with('{') {
            let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
            return if plain {
                Ok(Credentials::Token(Zeroizing::new(text.to_owned())))
            } else {
                Err(bad("neither a token in one line nor JSON with username, password and eauth"))
            };
        }
        // Not serde's own message: it may quote the text.
        let document: Json = serde_json::from_str(text).map_err(|_| bad("they begin as JSON and are not"))?;
        let field = |name: &str| document.get(name).and_then(Json::as_str).map(str::to_owned);
        match (field("username"), field("password"), field("eauth")) {
            (Some(user), Some(password), Some(eauth)) => {
                Ok(Credentials::Login { user, password: Zeroizing::new(password), eauth })
            }
            (Some(user), Some(password), None) => {
                Ok(Credentials::Login { user, password: Zeroizing::new(password), eauth: "pam".to_owned() })
            }
            _ => Err(bad("username and password are both needed")),
        }
    }

    pub(crate) fn user(&self) -> &str {
        match self {
            Credentials::Token(_) => "the token's user",
            Credentials::Login { user, .. } => user,
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Credentials::Token(_) => f.write_str("Token(•••)"),
            Credentials::Login { user, eauth, .. } => write!(f, "Login({user}, {eauth}, •••)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_or_a_login() {
        assert!(
            matches!(Credentials::parse("abc123\n").unwrap(), Credentials::Token(token) if *token == "abc123")
        );
        let login = Credentials::parse(r#"{"username": "ci", "password": "pw", "eauth": "file"}"#).unwrap();
        assert_eq!(format!("{login:?}"), "Login(ci, file, •••)");
        for wrong in ["", "two words", "{\"username\": \"hunter2", "{\"username\": \"x\"}"] {
            let error = Credentials::parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
