//! The attributes of `eos_salt_state`, read into types.

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, SecretRef, codes};
use eos_salt::Pillar;
use eos_secrets::Identity;

use crate::settings::Settings;
use crate::value::Object;

/// How Salt reaches the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    Masterless,
    Minion,
}

#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    pub name: &'a str,
    pub target: &'a str,
    pub via: Via,
    pub sls: &'a str,
    pub pillar: Option<&'a str>,
    pub on_destroy: Option<&'a str>,
    pub trigger: Option<&'a str>,
}

impl Via {
    fn parse(text: &str) -> Option<Via> {
        match text {
            "masterless" => Some(Via::Masterless),
            "minion" => Some(Via::Minion),
            _ => None,
        }
    }
}

impl<'a> Arguments<'a> {
    /// None while something that a run needs is not known.
    pub fn known(object: &'a Object) -> Option<Arguments<'a>> {
        if ["name", "target", "via", "sls", "pillar"].into_iter().any(|name| object.is_unknown(name)) {
            return None;
        }
        Some(Arguments {
            name: object.text("name")?,
            target: object.text("target")?,
            via: Via::parse(object.text("via")?)?,
            sls: object.text("sls")?,
            pillar: object.text("pillar"),
            on_destroy: object.text("on_destroy"),
            trigger: object.text("trigger"),
        })
    }

    /// Of an object that tofu has recorded or is about to apply: everything is known then.
    pub fn of(object: &'a Object) -> Result<Arguments<'a>, Diagnostics> {
        Arguments::known(object).ok_or_else(|| {
            let found = validate(object);
            if found.has_errors() {
                return found;
            }
            Diagnostic::error(codes::PROVIDER, "an attribute of eos_salt_state is not known at apply")
                .why("tofu applies a resource once all it depends on is known")
                .into()
        })
    }

    /// The extra pillar with its secrets put in.
    pub fn resolve_pillar(&self, settings: &Settings) -> Result<Pillar, Diagnostics> {
        let mut pillar = Pillar::parse(self.pillar.unwrap_or_default())
            .map_err(|problem| bad_pillar(self.name, &problem))?;
        let mut identity: Option<Identity> = None;
        pillar.resolve::<Diagnostics>(&mut |text: &str| {
            if !text.starts_with("secret://") {
                return Ok(None);
            }
            let reference: SecretRef = text.parse().map_err(|problem| bad_pillar(self.name, &problem))?;
            let (estate, key_file) = places(settings, &reference)?;
            let identity = match &mut identity {
                Some(identity) => identity,
                none => none.insert(Identity::load(key_file)?),
            };
            let secret = eos_secrets::read(estate, &reference, identity)?;
            Ok(Some(secret.expose().to_owned()))
        })?;
        Ok(pillar)
    }
}

fn places<'a>(
    settings: &'a Settings,
    reference: &SecretRef,
) -> Result<(&'a Utf8Path, &'a Utf8Path), Diagnostics> {
    match (&settings.estate, &settings.identity) {
        (Some(estate), Some(identity)) => Ok((estate, identity)),
        (estate, _) => {
            let missing = if estate.is_none() { "EOS_ESTATE" } else { "EOS_IDENTITY" };
            Err(Diagnostic::error(
                codes::NO_IDENTITY,
                format!("{reference} cannot be opened: {missing} is not set"),
            )
            .fix("let eos run tofu (eos tofu <unit> -- plan): it sets both")
            .into())
        }
    }
}

fn bad_pillar(name: &str, problem: &dyn std::fmt::Display) -> Diagnostics {
    let name = if name.is_empty() { "eos_salt_state" } else { name };
    Diagnostic::error(codes::BAD_STATES, format!("{name}: {problem}"))
        .fix("pillar = jsonencode({ key = \"value\" })")
        .into()
}

/// Every mistake of a configuration; what is unknown is judged later.
pub fn validate(config: &Object) -> Diagnostics {
    let mut found = Diagnostics::new();
    for name in ["name", "target", "sls"] {
        if config.text(name).is_some_and(|text| text.trim().is_empty()) {
            found.push(Diagnostic::error(codes::BAD_STATES, format!("eos_salt_state: {name} is empty")));
        }
    }
    if let Some(via) = config.text("via").filter(|via| Via::parse(via).is_none()) {
        found.push(
            Diagnostic::error(codes::BAD_STATES, format!("eos_salt_state: via is {via:?}"))
                .fix("masterless for this machine, minion for a host behind salt-api"),
        );
    }
    if let Some(Err(problem)) = config.text("pillar").map(Pillar::parse) {
        found.extend(bad_pillar(config.text("name").unwrap_or_default(), &problem));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn object() -> Object {
        Object::default()
            .with("name", "production/web/host")
            .with("target", "local")
            .with("via", "masterless")
            .with("sls", "{}")
    }

    #[test]
    fn every_mistake_is_found_and_unknown_values_wait() {
        let wrong = object().with("via", "ssh").with("sls", " ").with("pillar", "[1]");
        let found = validate(&wrong);
        assert_eq!(found.0.len(), 3, "{found}");
        assert!(found.to_string().contains("production/web/host: the extra pillar is a list"), "{found}");
        let unknown = object().with("pillar", Value::Unknown);
        assert!(validate(&unknown).is_empty() && Arguments::known(&unknown).is_none());
        assert_eq!(Arguments::known(&object()).unwrap().via, Via::Masterless);
    }

    #[test]
    fn a_secret_needs_an_estate_and_an_identity() {
        let object = object().with("pillar", r#"{"a": {"b": "secret://production/web/password?v=1"}}"#);
        let arguments = Arguments::of(&object).unwrap();
        let found = arguments.resolve_pillar(&Settings::default()).unwrap_err();
        assert_eq!(found.0[0].code, codes::NO_IDENTITY);
        let object = object.with("pillar", r#"{"a": "secret://nowhere"}"#);
        let found = Arguments::of(&object).unwrap().resolve_pillar(&Settings::default()).unwrap_err();
        assert_eq!(found.0[0].code, codes::BAD_STATES);
    }
}
