//! Every `@{…}` of a component refers to something there is.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{Checker, runtimes};
use crate::component::{Component, Need, Offer};
use crate::reference::{self, Segment};
use crate::setting::SettingType;

impl Checker<'_> {
    /// Every reference below `json` must name something there is.
    pub(super) fn texts(&mut self, component: &Component, section: &str, json: &Json, secrets_allowed: bool) {
        for text in all_texts(json) {
            match reference::parse(text) {
                Err(problem) => self.error(format!("{section}: {problem}")),
                Ok(segments) => {
                    for segment in segments {
                        if let Segment::Reference(reference) = segment {
                            self.reference(component, section, &reference, secrets_allowed);
                        }
                    }
                }
            }
        }
    }

    /// Whether who meets a need tells its user this: the kind that is created for it, else any that offers it. Of an offer
    /// that no kind has, nothing is known.
    fn offers_output(&self, need: &Need, output: &str) -> bool {
        if output == "provider" {
            return true;
        }
        let kinds: Vec<&str> = match &need.create {
            Some(kind) => vec![kind],
            None => self.catalog.kinds().collect(),
        };
        let offers: Vec<Offer> = kinds.into_iter().flat_map(|kind| self.offers(kind, &need.offer)).collect();
        let tells = |offer: &Offer| {
            offer.outputs.contains_key(output) || offer.generates.iter().any(|secret| secret == output)
        };
        offers.is_empty() || offers.iter().any(tells)
    }

    /// An offer of a kind, plain and with every feature.
    fn offers(&self, kind: &str, offer: &str) -> Vec<Offer> {
        let Ok(component) = self.catalog.component(kind) else { return Vec::new() };
        let all: BTreeSet<String> = component.features.keys().cloned().collect();
        let variants = runtimes(&component).into_iter().flat_map(|runtime| {
            [BTreeSet::new(), all.clone()].map(|features| self.catalog.variant(kind, runtime, &features))
        });
        variants.flatten().filter_map(|variant| variant.offers.get(offer).cloned()).collect()
    }

    fn reference(
        &mut self,
        component: &Component,
        section: &str,
        reference: &reference::Reference,
        secrets_allowed: bool,
    ) {
        let first = reference.rest.split('.').next().unwrap_or_default();
        let has_port = |name: &str| component.tasks.values().any(|task| task.ports.contains_key(name));
        let has_file = |name: &str| {
            let provisions = component.offers.values().filter_map(|offer| offer.provision.as_ref());
            component.tasks.values().chain(provisions).any(|task| task.files.contains_key(name))
        };
        let exists = match reference.root.as_str() {
            "address" | "at" | "data_folder" | "each" | "env" | "host" | "job" | "name" => {
                reference.rest.is_empty()
            }
            "program" => reference.rest.is_empty() && component.runtimes.host.is_some(),
            "setting" => component.settings.contains_key(&reference.rest),
            "addresses" => {
                component.settings.get(&reference.rest).is_some_and(|s| s.of == Some(SettingType::Host))
            }
            "port" | "listen" => has_port(first),
            "volume" => component.storage.contains_key(first),
            "file" => has_file(&reference.rest),
            "need" => component.needs.get(first).is_some_and(|need| {
                let output = reference.rest.split_once('.').map_or("", |(_, output)| output);
                self.offers_output(need, output)
            }),
            "collected" => component.offers.get(&reference.rest).is_some_and(|offer| offer.collect.is_some()),
            "threshold" => {
                let (subject, level) = reference.rest.split_once('.').unwrap_or((&reference.rest, ""));
                component.thresholds.get(subject).is_some_and(|levels| levels.contains_key(level))
            }
            "with" => {
                section == "offers"
                    && component.offers.values().any(|offer| offer.takes.contains_key(&reference.rest))
            }
            "given" => {
                section == "offers"
                    && component.offers.values().any(|offer| offer.generates.contains(&reference.rest))
            }
            "consumer" => {
                section == "offers" && matches!(reference.rest.as_str(), "name" | "address" | "job")
            }
            "nomad" => !reference.rest.is_empty(),
            _ => false,
        };
        if !exists {
            self.error_at(
                format!("{section}: {reference} refers to nothing there is"),
                self.catalog.place_of_reference(self.kind, &reference.to_string()),
            );
        }
        let secret = reference.root == "setting"
            && component.settings.get(&reference.rest).is_some_and(|s| s.kind == SettingType::Secret);
        if secret && !secrets_allowed {
            self.error(format!(
                "{section}: {reference} is a secret; only a task's env and files may hold one"
            ));
        }
    }
}

/// Those of a text that can be read.
pub(super) fn references(text: &str) -> Vec<reference::Reference> {
    let segments = reference::parse(text).unwrap_or_default();
    segments
        .into_iter()
        .filter_map(
            |segment| if let Segment::Reference(reference) = segment { Some(reference) } else { None },
        )
        .collect()
}

pub(super) fn all_texts(json: &Json) -> Vec<&str> {
    match json {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().flat_map(all_texts).collect(),
        Json::Object(entries) => entries
            .iter()
            .flat_map(|(key, value)| std::iter::once(key.as_str()).chain(all_texts(value)))
            .collect(),
        _ => Vec::new(),
    }
}
