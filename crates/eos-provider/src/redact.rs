//! Blanks known secrets out of texts that others wrote: log lines, events, error messages.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use eos_model::{Diagnostic, Diagnostics};
use zeroize::Zeroizing;

const BLANK: &str = "•••";
/// A line of a secret of several lines is looked for alone when it is longer: `}` is in every text.
const TELLING_LINE: usize = 8;

/// Knows the values and the forms in which programs print them.
#[derive(Default)]
pub struct Redact {
    /// Longest first, so that no part of a longer one is left.
    forms: Vec<Zeroizing<String>>,
}

impl Redact {
    pub fn new<'a>(values: impl Iterator<Item = &'a str>) -> Redact {
        let mut forms: Vec<Zeroizing<String>> = values.flat_map(forms_of).collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Redact { forms }
    }

    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), BLANK);
            }
        }
        text
    }

    pub fn diagnostics(&self, found: Diagnostics) -> Diagnostics {
        let clean = |diagnostic: Diagnostic| Diagnostic {
            message: self.text(&diagnostic.message),
            why: diagnostic.why.as_deref().map(|why| self.text(why)),
            ..diagnostic
        };
        Diagnostics(found.0.into_iter().map(clean).collect())
    }
}

/// As it is, as JSON writes it, as a URL has it, in base64; of several lines also each line.
fn forms_of(value: &str) -> Vec<Zeroizing<String>> {
    let value = value.trim_end_matches(['\n', '\r']);
    if value.is_empty() {
        return Vec::new();
    }
    let json = serde_json::Value::from(value).to_string();
    let mut forms = vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        percent_encoded(value),
        STANDARD.encode(value),
        STANDARD_NO_PAD.encode(value),
        URL_SAFE_NO_PAD.encode(value),
    ];
    if value.contains('\n') {
        forms.extend(value.lines().filter(|line| line.len() >= TELLING_LINE).map(str::to_owned));
    }
    forms.into_iter().map(Zeroizing::new).collect()
}

fn percent_encoded(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_every_form() {
        let redact = Redact::new(["p@ss \"w\"", "short", "shorter"].into_iter());
        for text in ["is p@ss \"w\"!", "is p@ss \\\"w\\\"!", "is p%40ss%20%22w%22!", "is cEBzcyAidyI=!"] {
            assert_eq!(redact.text(text), format!("is {BLANK}!"), "{text}");
        }
        assert_eq!(redact.text("shorter"), BLANK);
        assert_eq!(Redact::default().text("x"), "x");
    }

    #[test]
    fn a_line_of_a_key_is_found_alone() {
        let redact = Redact::new(["-----BEGIN KEY-----\nMIIEabcdefgh\n}\n"].into_iter());
        assert_eq!(redact.text("cannot parse MIIEabcdefgh }"), format!("cannot parse {BLANK} }}"));
    }
}
