//! A unit's outputs. A sensitive one is known by name only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EventOutput, Session, TofuError};

pub type Outputs = BTreeMap<String, Output>;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum Output {
    Plain(serde_json::Value),
    /// It has a value, which stays in the state.
    Sensitive,
}

#[derive(Deserialize)]
struct RawOutput {
    #[serde(default)]
    sensitive: Option<bool>,
    #[serde(default)]
    value: serde_json::Value,
}

impl Session {
    pub fn outputs(&self) -> Result<Outputs, TofuError> {
        let stdout = self.capture(&["output", "-json", "-no-color"].map(String::from))?;
        parse(&stdout)
    }
}

fn parse(bytes: &[u8]) -> Result<Outputs, TofuError> {
    // Serde's own message could quote the text.
    let raw: BTreeMap<String, RawOutput> =
        serde_json::from_slice(bytes).map_err(|error| TofuError::Unreadable {
            what: "the list of outputs".into(),
            reason: format!("{:?} error", error.classify()),
        })?;
    let output = |raw: RawOutput| match raw.sensitive {
        Some(false) => Output::Plain(raw.value),
        _ => Output::Sensitive,
    };
    Ok(raw.into_iter().map(|(name, raw)| (name, output(raw))).collect())
}

impl From<EventOutput> for Output {
    fn from(output: EventOutput) -> Output {
        match output.sensitive {
            true => Output::Sensitive,
            false => Output::Plain(output.value.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_to_be_plain_stays_hidden() {
        let text = br#"{"a":{"sensitive":false,"value":[1]},"b":{"sensitive":true,"value":"S3"},"c":{"value":"S3"}}"#;
        let outputs = parse(text).unwrap();
        assert_eq!(outputs["a"], Output::Plain(serde_json::json!([1])));
        assert_eq!((&outputs["b"], &outputs["c"]), (&Output::Sensitive, &Output::Sensitive));
        assert!(!format!("{outputs:?}").contains("S3"));
        let error = parse(br#"{"a":{"sensitive":"S3"}}"#).unwrap_err();
        assert!(!error.to_string().contains("S3"), "{error}");
    }
}
