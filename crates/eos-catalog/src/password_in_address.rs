//! A password inside an address (`https://bob:secret@example.org`), which a plain setting would carry into the pillar, its
//! history and the job, for everybody to read.

use serde_json::Value as Json;

/// What is said of one. It does not repeat the address.
pub const PASSWORD_IN_ADDRESS: &str = "it has a password in an address (://user:password@…)";

/// Whether a text, or one of a list, is such an address.
pub fn has_password(value: &Json) -> bool {
    match value {
        Json::String(text) => text.split("://").skip(1).any(begins_with_password),
        Json::Array(items) => items.iter().any(has_password),
        _ => false,
    }
}

fn begins_with_password(rest: &str) -> bool {
    let end = rest.find(|c: char| c.is_whitespace() || "/?#,".contains(c)).unwrap_or(rest.len());
    let user = rest[..end].rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    user.is_some_and(|(_, password)| !password.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn passwords_are_told_from_ports_and_users() {
        for address in
            ["rest:https://bob:pass99@backup.example.org/", "a, amqp://u:p:q@h", "s3://x,redis://:p@h"]
        {
            assert!(has_password(&json!(address)), "{address}");
            assert!(has_password(&json!(["plain", address])), "{address}");
        }
        for address in [
            "sftp:backup@vault.example.org:/srv/restic",
            "https://bob@example.org:8443/x",
            "https://example.org:8443/a:b@c",
            "https://bob:@example.org",
            "user:password@host",
            "",
        ] {
            assert!(!has_password(&json!(address)), "{address}");
        }
        assert!(!has_password(&json!(5)));
    }
}
