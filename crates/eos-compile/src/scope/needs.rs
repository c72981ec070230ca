//! The consumer's side: what a need is met with.

use eos_catalog::Reference;
use eos_model::Name;
use serde_json::Value as Json;

use crate::origin::Origin;
use crate::render::{self, Piece, Rendered};
use crate::scope::{Grant, Scope};
use crate::work::{Provider, Unit, Work};

impl<'w, 'a> Scope<'w, 'a> {
    pub(super) fn need(&self, reference: &Reference) -> Result<Rendered, String> {
        let (need, output) = reference.rest.split_once('.').unwrap_or((&reference.rest, ""));
        let spec_key = self
            .unit
            .component
            .needs
            .get_key_value(need)
            .ok_or_else(|| format!("{reference}: there is no need {need:?}"))?
            .0;
        let providers = self.unit.needs.get(need).map(Vec::as_slice).unwrap_or_default();
        let provider = providers.iter().find(|provider| provider.each == self.each).or(providers.first());
        let provider = provider.ok_or_else(|| format!("{reference}: nothing meets the need {need:?}"))?;
        let choice = self.unit.entry.node.get("needs").and_then(|needs| needs.get(need));
        let key = Origin::component_key(&self.unit.id.name, &format!("needs:{need}"));
        let mut origins = choice.map(|node| self.pillar_origin(node, &key)).unwrap_or_default();
        let mut rendered = self.offered(spec_key, output, provider, reference)?;
        origins.append(&mut rendered.origins);
        rendered.origins = origins;
        Ok(rendered)
    }

    fn offered(
        &self,
        need: &'w str,
        output: &str,
        provider: &Provider,
        reference: &Reference,
    ) -> Result<Rendered, String> {
        if output == "provider" {
            return Ok(Rendered::value(&Json::from(provider.name.as_str()), Vec::new()));
        }
        let unit = self
            .work
            .units
            .get(&provider.name)
            .ok_or_else(|| format!("{reference}: {} is not there", provider.name))?;
        let spec = &self.unit.component.needs[need];
        let offer = unit
            .component
            .offers
            .get_key_value(&spec.offer)
            .ok_or_else(|| format!("{reference}: {} does not offer {}", provider.name, spec.offer))?;
        if offer.1.generates.iter().any(|secret| secret == output) {
            return self.generated(need, output).ok_or_else(|| {
                format!("{reference}: no secret was made for it; eos update {} makes one", self.unit.id.name)
            });
        }
        let template = offer.1.outputs.get(output).ok_or_else(|| {
            let known: Vec<&str> = offer.1.outputs.keys().map(String::as_str).collect();
            format!("{reference}: {} offers {} with {}", provider.name, spec.offer, known.join(", "))
        })?;
        if template.contains("${") {
            // Known once the other unit is applied: it arrives as a variable.
            return Ok(Rendered::piece(Piece::Input(format!("{need}_{output}")), Vec::new()));
        }
        let grant = Grant { offer: offer.0, need, consumer: self.unit, each: provider.each.clone() };
        render::text(&Scope::of_grant(self.work, unit, None, grant, self.depth + 1), template)
    }

    pub(super) fn generated(&self, need: &str, secret: &str) -> Option<Rendered> {
        let key = format!("{need}_{secret}");
        let reference = self.unit.entry.secrets.get(&key)?.clone();
        let node = self.unit.entry.node.get("secrets").and_then(|secrets| secrets.get(&key));
        let pillar_key = Origin::component_key(&self.unit.id.name, &format!("secrets:{key}"));
        let origins = node.map(|node| self.pillar_origin(node, &pillar_key)).unwrap_or_default();
        Some(Rendered::piece(Piece::Secret { reference, url: false }, origins))
    }
}

/// The inputs a unit takes from others that are known only later: variable → (unit, output).
pub fn later_inputs(work: &Work<'_>, unit: &Unit<'_>) -> Vec<(String, Name, String)> {
    let mut found = Vec::new();
    for (need, providers) in &unit.needs {
        let Some(spec) = unit.component.needs.get(need) else { continue };
        for provider in providers {
            let Some(offer) =
                work.units.get(&provider.name).and_then(|unit| unit.component.offers.get(&spec.offer))
            else {
                continue;
            };
            for (output, _) in offer.outputs.iter().filter(|(_, template)| template.contains("${")) {
                found.push((
                    format!("{need}_{output}"),
                    provider.name.clone(),
                    format!("{}_{output}", spec.offer.replace('-', "_")),
                ));
            }
        }
    }
    found
}
