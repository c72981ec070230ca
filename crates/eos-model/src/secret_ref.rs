//! A reference to a secret: the only form in which a secret appears in pillar and artifacts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::{EnvName, Name};

/// `secret://production/grafana/admin_password?v=3`
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretRef {
    pub env: EnvName,
    pub name: Name,
    pub key: Name,
    pub version: u32,
}

/// A text that is not a reference to a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSecretRef(pub String);

impl fmt::Display for BadSecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected secret://<environment>/<name>/<key>?v=<version>")
    }
}

impl std::error::Error for BadSecretRef {}

impl FromStr for SecretRef {
    type Err = BadSecretRef;
    fn from_str(text: &str) -> Result<SecretRef, BadSecretRef> {
        let parse = || {
            let (path, version) = text.strip_prefix("secret://")?.split_once("?v=")?;
            let mut parts = path.split('/');
            let (env, name, key) = (parts.next()?, parts.next()?, parts.next()?);
            if parts.next().is_some() {
                return None;
            }
            Some(SecretRef {
                env: env.parse().ok()?,
                name: name.parse().ok()?,
                key: key.parse().ok()?,
                version: version.parse().ok().filter(|v| *v > 0)?,
            })
        };
        parse().ok_or_else(|| BadSecretRef(text.to_owned()))
    }
}

impl TryFrom<String> for SecretRef {
    type Error = BadSecretRef;
    fn try_from(text: String) -> Result<SecretRef, BadSecretRef> {
        text.parse()
    }
}

impl From<SecretRef> for String {
    fn from(reference: SecretRef) -> String {
        reference.to_string()
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "secret://{}/{}/{}?v={}", self.env, self.name, self.key, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::SecretRef;

    #[test]
    fn a_reference_reads_back_as_written() {
        let text = "secret://production/grafana/admin_password?v=3";
        assert_eq!(text.parse::<SecretRef>().unwrap().to_string(), text);
        for bad in [
            "",
            "secret://a/b?v=1",
            "secret://a/b/c",
            "secret://a/b/c?v=0",
            "secret://a/b/c/d?v=1",
            "hunter2",
        ] {
            assert!(bad.parse::<SecretRef>().is_err(), "{bad}");
        }
    }
}
