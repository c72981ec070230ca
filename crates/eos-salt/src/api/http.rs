//! HTTP with salt-api: tokens, statuses, and what its pages of HTML mean.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use zeroize::Zeroizing;

use super::credentials::Credentials;
use crate::error::SaltError;
use crate::returned::shortened;

/// A report of some thousand states is a few megabytes.
const LARGEST_ANSWER: u64 = 64 << 20;

pub(crate) struct Http {
    agent: Agent,
    pub address: String,
    credentials: Credentials,
    token: Mutex<Option<Zeroizing<String>>>,
}

impl Http {
    /// `authority` is a PEM with the certificates to trust instead of this machine's.
    pub fn new(address: &str, credentials: Credentials, authority: Option<&[u8]>) -> Result<Http, SaltError> {
        let address = address.trim().trim_end_matches('/').to_owned();
        check(&address)?;
        let roots = match authority {
            None => RootCerts::PlatformVerifier,
            Some(pem) => RootCerts::from(vec![Certificate::from_pem(pem).map_err(|error| {
                SaltError::BadCredentials { reason: format!("the certificate authority is no PEM: {error}") }
            })?]),
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .timeout_resolve(Some(Duration::from_secs(10)))
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_recv_response(Some(Duration::from_secs(90)))
            .timeout_recv_body(Some(Duration::from_secs(90)))
            .user_agent(concat!("eos/", env!("CARGO_PKG_VERSION")))
            .build();
        let token = match &credentials {
            Credentials::Token(token) => Some(token.clone()),
            Credentials::Login { .. } => None,
        };
        Ok(Http { agent: config.into(), address, credentials, token: Mutex::new(token) })
    }

    /// Lowstates; the answer's `return`. `what` names it in errors.
    pub fn post(&self, what: &str, lowstates: &Json) -> Result<Json, SaltError> {
        self.with_token(what, |token| self.send("/", Some(token), Some(lowstates)))
    }

    pub fn get(&self, what: &str, path: &str) -> Result<Json, SaltError> {
        self.with_token(what, |token| self.send(path, Some(token), None))
    }

    /// A token may have expired since: with a login there is a second try.
    fn with_token(
        &self,
        what: &str,
        send: impl Fn(&str) -> Result<(u16, String), SaltError>,
    ) -> Result<Json, SaltError> {
        let (token, fresh) = self.token()?;
        let (mut status, mut text) = send(&token)?;
        if status == 401 && !fresh && matches!(self.credentials, Credentials::Login { .. }) {
            let token = self.login()?;
            (status, text) = send(&token)?;
        }
        match status {
            200 => serde_json::from_str(&text).map_err(|error| self.failed(what, status, &error.to_string())),
            401 | 403 => Err(SaltError::Forbidden { address: self.address.clone(), what: what.to_owned() }),
            status => Err(self.failed(what, status, &plain(&text))),
        }
    }

    fn failed(&self, what: &str, status: u16, text: &str) -> SaltError {
        let (address, what, text) = (self.address.clone(), what.to_owned(), shortened(text));
        SaltError::Api { address, what, status, text }
    }

    /// The token, and whether it was fetched just now.
    fn token(&self) -> Result<(Zeroizing<String>, bool), SaltError> {
        let known = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(token) => Ok((token, false)),
            None => Ok((self.login()?, true)),
        }
    }

    fn login(&self) -> Result<Zeroizing<String>, SaltError> {
        let Credentials::Login { user, password, eauth } = &self.credentials else {
            return Err(SaltError::Forbidden { address: self.address.clone(), what: "the token".to_owned() });
        };
        let body = json!({"username": user, "password": password.as_str(), "eauth": eauth});
        let (status, text) = self.send("/login", None, Some(&body))?;
        match status {
            200 => {}
            401 | 403 => {
                let user = self.credentials.user().to_owned();
                return Err(SaltError::BadLogin { address: self.address.clone(), user });
            }
            status => return Err(self.failed("the login", status, &plain(&text))),
        }
        let answer: Json = serde_json::from_str(&text).unwrap_or_default();
        let token = answer["return"][0]["token"].as_str().map(|token| Zeroizing::new(token.to_owned()));
        let token =
            token.ok_or_else(|| self.failed("the login", status, "there is no token in the answer"))?;
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
        Ok(token)
    }

    fn send(&self, path: &str, token: Option<&str>, body: Option<&Json>) -> Result<(u16, String), SaltError> {
        let url = format!("{}{path}", self.address);
        let unreachable = |error: &dyn std::fmt::Display| SaltError::Unreachable {
            address: self.address.clone(),
            reason: error.to_string(),
        };
        let mut request = ureq::http::Request::builder()
            .method(if body.is_some() { "POST" } else { "GET" })
            .uri(url)
            .header("Accept", "application/json")
            .header("Content-Type", "application/json");
        if let Some(token) = token {
            request = request.header("X-Auth-Token", token);
        }
        let body = Zeroizing::new(body.map(Json::to_string).unwrap_or_default());
        let request = request.body(body.as_bytes().to_vec()).map_err(|error| unreachable(&error))?;
        let mut response = self.agent.run(request).map_err(|error| unreachable(&error))?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(LARGEST_ANSWER)
            .read_to_string()
            .map_err(|error| unreachable(&error))?;
        Ok((status, text))
    }
}

/// Passwords, tokens and states travel on it: in clear only where nobody else can listen.
fn check(address: &str) -> Result<(), SaltError> {
    let bad =
        |reason: &str| Err(SaltError::BadAddress { address: address.to_owned(), reason: reason.to_owned() });
    if address.starts_with("https://") {
        return Ok(());
    }
    let Some(rest) = address.strip_prefix("http://") else {
        return bad("it begins with neither https:// nor http://");
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    let loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if loopback { Ok(()) } else { bad("without TLS only this machine itself may be asked; use https://") }
}

/// What a page of HTML says: its paragraph, or its text without tags.
fn plain(text: &str) -> String {
    if let Ok(answer) = serde_json::from_str::<Json>(text) {
        let said = answer.get("return").or_else(|| answer.get("message")).and_then(Json::as_str);
        return said.map_or_else(|| answer.to_string(), str::to_owned);
    }
    let body =
        text.split_once("<body").map_or(text, |(_, body)| body.split_once('>').map_or("", |(_, rest)| rest));
    let mut out = String::new();
    let mut inside = false;
    for character in body.chars() {
        match character {
            '<' => inside = true,
            '>' => {
                inside = false;
                out.push(' ');
            }
            other if !inside => out.push(other),
            _ => {}
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_clear_only_to_this_machine() {
        for fine in
            ["https://salt.example.org", "http://127.0.0.1:8000", "http://localhost", "http://[::1]:8000/x"]
        {
            assert!(check(fine).is_ok(), "{fine}");
        }
        for bad in ["http://10.0.0.5:8000", "salt.example.org", "http://127.0.0.1.example.org:80", ""] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pages_become_sentences() {
        let page = "<!DOCTYPE html><html><head><title>401</title></head><body class=x><h2>401 Unauthorized</h2>\n<p>No permission</p></body></html>";
        assert_eq!(plain(page), "401 Unauthorized No permission");
        assert_eq!(
            plain(r#"{"status": 500, "return": "An unexpected error occurred"}"#),
            "An unexpected error occurred"
        );
    }
}
