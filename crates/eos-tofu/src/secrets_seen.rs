//! Values that a plan marks sensitive in one place and shows in another: a provider that copies an input into an output
//! loses the mark (`terraform_data` does). What is hidden once is hidden everywhere.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Shown;

/// Shorter texts are words of everyday use; hiding each `1` and `on` would make a plan unreadable.
const SHORTEST_WHOLE: usize = 4;
/// Parts of longer texts, such as a password in an address, are looked for from this length on.
const SHORTEST_PART: usize = 8;

/// The texts that some mask covers.
#[derive(Default)]
pub(crate) struct SecretsSeen {
    texts: BTreeSet<String>,
}

impl SecretsSeen {
    /// Takes in every text of a value that the mask covers; all of them when there is no mask.
    pub fn note(&mut self, value: &Value, mask: Option<&Value>) {
        match (value, mask) {
            (_, Some(Value::Bool(false))) => {}
            (Value::Object(map), Some(Value::Object(masks))) => {
                for (key, mask) in masks {
                    self.note(map.get(key).unwrap_or(&Value::Null), Some(mask));
                }
            }
            (Value::Array(list), Some(Value::Array(masks))) => {
                list.iter().zip(masks).for_each(|(part, mask)| self.note(part, Some(mask)));
            }
            (_, Some(Value::Object(masks))) if masks.is_empty() => {}
            (_, Some(Value::Array(masks))) if masks.is_empty() => {}
            _ => self.note_all(value),
        }
    }

    pub fn note_all(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.chars().count() >= SHORTEST_WHOLE => {
                self.texts.insert(text.clone());
            }
            Value::Array(list) => list.iter().for_each(|part| self.note_all(part)),
            Value::Object(map) => map.values().for_each(|part| self.note_all(part)),
            _ => {}
        }
    }

    pub fn hide(&self, shown: &mut Shown) {
        match shown {
            Shown::Text(text) if self.reveals(text) => *shown = Shown::Sensitive,
            Shown::List(list) => list.iter_mut().for_each(|part| self.hide(part)),
            Shown::Map(map) => map.values_mut().for_each(|part| self.hide(part)),
            _ => {}
        }
    }

    pub fn reveals(&self, text: &str) -> bool {
        if self.texts.contains(text) {
            return true;
        }
        let parts = self.texts.iter().filter(|secret| secret.chars().count() >= SHORTEST_PART);
        // Inside of JSON a text is escaped.
        parts.into_iter().any(|secret| {
            let quoted = Value::from(secret.as_str()).to_string();
            text.contains(secret.as_str()) || text.contains(&quoted[1..quoted.len() - 1])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_covered_once_is_hidden_wherever_it_stands() {
        let mut seen = SecretsSeen::default();
        seen.note(
            &json!({"a": "pass\"word-1", "open": "plain", "list": ["x", "four"], "n": 1}),
            Some(&json!({"a": true, "list": [true, true], "gone": true, "none": {}})),
        );
        seen.note(&json!("unmasked"), None);
        for text in [
            "pass\"word-1",
            "db://u:pass\"word-1@h",
            r#"{"p":"pass\"word-1"}"#,
            "four",
            "unmasked",
            "unmasked!",
        ] {
            assert!(seen.reveals(text), "{text}");
        }
        for text in ["plain", "x", "fourth", "pass"] {
            assert!(!seen.reveals(text), "{text}");
        }
        let mut shown = Shown::List(vec![Shown::Text("unmasked".into()), Shown::Text("plain".into())]);
        seen.hide(&mut shown);
        assert_eq!(shown, Shown::List(vec![Shown::Sensitive, Shown::Text("plain".into())]));
    }
}
