//! The provider's side: what an offer gives each of its consumers.

use std::rc::Rc;

use eos_catalog::Reference;
use serde_json::Value as Json;

use crate::render::{self, Rendered};
use crate::scope::Scope;
use crate::work::{Unit, Work};

/// One consumer's use of an offer.
#[derive(Clone)]
pub struct Grant<'w, 'a> {
    pub offer: &'w str,
    pub need: &'w str,
    pub consumer: &'w Unit<'a>,
    pub each: Option<String>,
}

impl<'w, 'a> Scope<'w, 'a> {
    /// What an offer renders for each of its consumers, in the order of their names.
    pub(super) fn collected(&self, offer: &str) -> Result<Rendered, String> {
        let (offer, spec) = self
            .unit
            .component
            .offers
            .get_key_value(offer)
            .ok_or_else(|| format!("there is no offer {offer:?}"))?;
        let template =
            spec.collect.as_ref().ok_or_else(|| format!("the offer {offer:?} collects nothing"))?;
        let mut items = Vec::new();
        let mut origins = Vec::new();
        for (_, grant) in grants(self.work, self.unit, offer) {
            let scope = Scope::of_grant(self.work, self.unit, None, grant, self.depth + 1);
            let traced = render::data(&scope, template, &mut |rendered| {
                origins.extend(rendered.origins.iter().cloned());
                crate::sink::salt(rendered)
            })?;
            items.push(traced.to_json());
        }
        origins.sort();
        origins.dedup();
        Ok(Rendered::value(&Json::Array(items), origins))
    }

    pub(super) fn with(&self, name: &str, reference: &Reference) -> Result<Rendered, String> {
        let grant = self.grant.as_ref().ok_or_else(|| format!("{reference} is meant for offers only"))?;
        let spec = &grant.consumer.component.needs[grant.need];
        if let Some(passed) = spec.with.get(name) {
            let scope = Scope::bare(self.work, grant.consumer, self.depth + 1);
            return one(&Rc::new(Scope { each: grant.each.clone(), ..scope }), passed);
        }
        let default = self.unit.component.offers[grant.offer]
            .takes
            .get(name)
            .ok_or_else(|| format!("{reference} refers to nothing there is"))?;
        let scope = Scope::bare(self.work, self.unit, self.depth + 1);
        one(&Rc::new(Scope { grant: self.grant.clone(), ..scope }), default)
    }

    pub(super) fn given(&self, secret: &str) -> Option<Rendered> {
        let grant = self.grant.as_ref()?;
        Scope::bare(self.work, grant.consumer, self.depth).generated(grant.need, secret)
    }

    pub(super) fn consumer(&self, what: &str) -> Option<Rendered> {
        let consumer = self.grant.as_ref()?.consumer;
        let value = match what {
            "name" => consumer.id.name.to_string(),
            "job" => consumer.job(),
            "address" => consumer.host?.address.clone(),
            _ => return None,
        };
        Some(Rendered::value(&Json::from(value), Vec::new()))
    }
}

/// A value passed along a need: a text with references, or plain data.
fn one(scope: &Rc<Scope<'_, '_>>, json: &Json) -> Result<Rendered, String> {
    match json {
        Json::String(text) => render::text(scope, text),
        data => {
            let mut origins = Vec::new();
            let traced = render::data(scope, data, &mut |rendered| {
                origins.extend(rendered.origins.iter().cloned());
                crate::sink::salt(rendered)
            })?;
            Ok(Rendered::value(&traced.to_json(), origins))
        }
    }
}

/// What a consumer wants to have of what an offer takes; what cannot be told is told of by the pass that emits it.
pub fn wanted<'w, 'a>(
    work: &'w Work<'a>,
    provider: &'w Unit<'a>,
    grant: Grant<'w, 'a>,
    taken: &str,
) -> Option<String> {
    let scope = Scope::of_grant(work, provider, None, grant, 0);
    let rendered = render::text(&scope, &format!("@{{with.{taken}}}")).ok()?;
    crate::sink::salt(&rendered).ok()?.as_str().map(str::to_owned)
}

/// Every use of an offer of a provider, in the order of the consumers' names.
pub fn grants<'w, 'a>(
    work: &'w Work<'a>,
    provider: &'w Unit<'a>,
    offer: &str,
) -> Vec<(&'w Unit<'a>, Grant<'w, 'a>)> {
    let Some((offer, _)) = provider.component.offers.get_key_value(offer) else { return Vec::new() };
    let mut found = Vec::new();
    for consumer in work.units.values() {
        for (need, providers) in &consumer.needs {
            let Some((need, spec)) = consumer.component.needs.get_key_value(need) else { continue };
            if spec.offer != *offer {
                continue;
            }
            for choice in providers.iter().filter(|choice| choice.name == provider.id.name) {
                found.push((consumer, Grant { offer, need, consumer, each: choice.each.clone() }));
            }
        }
    }
    found
}
