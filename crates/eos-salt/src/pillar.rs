//! Extra pillar for a run, with the values in it that nobody may see.

use std::fmt;

use serde_json::{Map, Value as Json};
use zeroize::Zeroizing;

use crate::redact::Redactor;

/// Extra pillar. Its secrets are both in `values`, where states find them, and listed, so that they can be hidden.
#[derive(Default)]
pub struct Pillar {
    values: Map<String, Json>,
    secrets: Vec<Zeroizing<String>>,
}

#[derive(Debug, thiserror::Error)]
pub enum NotAPillar {
    #[error("the extra pillar is not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    #[error("the extra pillar is {0}, not a mapping of names to values")]
    Shape(&'static str),
}

impl Pillar {
    /// From JSON text; an empty text is no pillar.
    pub fn parse(text: &str) -> Result<Pillar, NotAPillar> {
        if text.trim().is_empty() {
            return Ok(Pillar::default());
        }
        Pillar::of(serde_json::from_str(text)?)
    }

    pub fn of(value: Json) -> Result<Pillar, NotAPillar> {
        match value {
            Json::Object(values) => Ok(Pillar { values, secrets: Vec::new() }),
            Json::Null => Ok(Pillar::default()),
            Json::Array(_) => Err(NotAPillar::Shape("a list")),
            Json::String(_) => Err(NotAPillar::Shape("a text")),
            Json::Bool(_) => Err(NotAPillar::Shape("a truth value")),
            Json::Number(_) => Err(NotAPillar::Shape("a number")),
        }
    }

    /// Replaces texts: `resolve` gives the secret behind a text, or None for a text that stays. Every secret it gives is
    /// hidden from then on.
    pub fn resolve<E>(
        &mut self,
        resolve: &mut dyn FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<(), E> {
        fn walk<E>(
            value: &mut Json,
            secrets: &mut Vec<Zeroizing<String>>,
            resolve: &mut dyn FnMut(&str) -> Result<Option<String>, E>,
        ) -> Result<(), E> {
            match value {
                Json::String(text) => {
                    if let Some(secret) = resolve(text)? {
                        secrets.push(Zeroizing::new(secret.clone()));
                        *text = secret;
                    }
                }
                Json::Array(items) => {
                    for item in items {
                        walk(item, secrets, resolve)?;
                    }
                }
                Json::Object(entries) => {
                    for (_, entry) in entries.iter_mut() {
                        walk(entry, secrets, resolve)?;
                    }
                }
                _ => {}
            }
            Ok(())
        }
        for (_, value) in self.values.iter_mut() {
            walk(value, &mut self.secrets, resolve)?;
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn has_secrets(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// Hides this pillar's secrets in texts.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.secrets.iter().map(|secret| secret.as_str()))
    }

    /// The values themselves, secrets in clear: for Salt's eyes only.
    pub(crate) fn expose(&self) -> &Map<String, Json> {
        &self.values
    }
}

impl fmt::Debug for Pillar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.redactor().json(Json::Object(self.values.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_put_in_and_do_not_print() {
        let mut pillar =
            Pillar::parse(r#"{"a": {"b": ["secret://x", "plain"]}, "c": "secret://x", "d": 5}"#).unwrap();
        pillar
            .resolve(&mut |text| Ok::<_, ()>((text == "secret://x").then(|| "hunter2".to_owned())))
            .unwrap();
        assert_eq!(pillar.expose()["a"]["b"][0], "hunter2");
        assert!(pillar.has_secrets());
        assert_eq!(format!("{pillar:?}"), r#"{"a":{"b":["•••","plain"]},"c":"•••","d":5}"#);
    }

    #[test]
    fn only_a_mapping_is_a_pillar() {
        assert!(Pillar::parse(" ").unwrap().is_empty());
        assert_eq!(
            Pillar::parse("[1]").unwrap_err().to_string(),
            "the extra pillar is a list, not a mapping of names to values"
        );
        assert!(Pillar::parse("{").is_err());
    }
}
