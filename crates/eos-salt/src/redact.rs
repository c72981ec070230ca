//! Hides secrets in whatever Salt says: comments, changes, diffs, logs.
//!
//! A secret is looked for as it is and as it looks when somebody quotes it: in JSON, in Python's repr, percent-encoded,
//! in base64, and line by line when a diff takes it apart.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value as Json;
use zeroize::Zeroizing;

/// What stands in the place of a secret.
pub const DOTS: &str = "•••";

/// A line of a secret shorter than this says too little to be hidden by itself, and would blot out innocent words.
const SHORTEST_LINE: usize = 4;

/// Knows secrets, and takes them out of texts.
pub struct Redactor {
    /// Longest first, so that no part of a secret survives the replacing of a shorter one.
    needles: Vec<Zeroizing<String>>,
}

impl Redactor {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Redactor {
        let mut needles: Vec<Zeroizing<String>> = Vec::new();
        for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
            let mut add = |text: String| {
                if !text.is_empty() && !needles.iter().any(|known| **known == text) {
                    needles.push(Zeroizing::new(text));
                }
            };
            add(secret.to_owned());
            for line in secret.lines().filter(|line| line.trim().len() >= SHORTEST_LINE) {
                add(line.trim().to_owned());
            }
            add(json_inside(secret));
            add(python_inside(secret));
            add(percent(secret));
            // The last characters depend on what follows them in the encoded whole.
            add(STANDARD.encode(secret).trim_end_matches('=').to_owned());
        }
        needles.sort_by_key(|needle| std::cmp::Reverse(needle.len()));
        Redactor { needles }
    }

    pub fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for needle in &self.needles {
            if out.contains(needle.as_str()) {
                out = out.replace(needle.as_str(), DOTS);
            }
        }
        out
    }

    /// Texts and keys of a document.
    pub fn json(&self, value: Json) -> Json {
        if self.needles.is_empty() {
            return value;
        }
        match value {
            Json::String(text) => Json::String(self.text(&text)),
            Json::Array(items) => Json::Array(items.into_iter().map(|item| self.json(item)).collect()),
            Json::Object(entries) => Json::Object(
                entries.into_iter().map(|(key, value)| (self.text(&key), self.json(value))).collect(),
            ),
            // A secret of digits may come back as the number that Salt read it as.
            Json::Number(number) if self.text(&number.to_string()).contains(DOTS) => Json::from(DOTS),
            other => other,
        }
    }
}

/// As it stands between the quotes of a JSON text.
fn json_inside(text: &str) -> String {
    let quoted = Json::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As it stands between the quotes of Python's repr.
fn python_inside(text: &str) -> String {
    let quote_double = text.contains('\'') && !text.contains('"');
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\'' if !quote_double => out.push_str("\\'"),
            other if other.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(other))),
            other => out.push(other),
        }
    }
    out
}

fn percent(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_way_to_write_a_secret_is_hidden() {
        let redactor = Redactor::new(["p\"a's\\s w:1", "first line\nsecond line\n"]);
        for text in [
            "is p\"a's\\s w:1 here",
            r#"{"x": "p\"a's\\s w:1"}"#,
            r#"'p"a\'s\\s w:1'"#,
            "p%22a%27s%5Cs%20w%3A1",
            "cCJhJ3NcIHc6MQ-no cCJhJ3NccyB3OjE=",
            "-first line",
            "+    second line",
            "first line\\nsecond line\\n",
        ] {
            let shown = redactor.text(text);
            assert!(shown.contains(DOTS), "{shown}");
            assert!(!shown.contains("s w:1") && !shown.contains("second line"), "{shown}");
        }
    }

    #[test]
    fn the_longer_secret_goes_first() {
        assert_eq!(Redactor::new(["abcd", "abcdefgh"]).text("x abcdefgh y abcd"), "x ••• y •••");
    }

    #[test]
    fn numbers_and_keys_count_too() {
        let redactor = Redactor::new(["424242"]);
        assert_eq!(
            redactor.json(json!({"424242": [424242, "a424242b", 1, null]})),
            json!({"•••": ["•••", "a•••b", 1, null]})
        );
    }

    #[test]
    fn nothing_to_hide_changes_nothing() {
        let redactor = Redactor::new([""]);
        assert_eq!(redactor.text("a b"), "a b");
    }
}
