//! What was asked for and would be dropped: settings, secrets and needs of a feature that is off.

use eos_catalog::Component;
use eos_catalog::component::Feature;
use eos_model::{Diagnostic, codes};
use serde::Serialize;
use serde_json::Value as Json;

use super::complete::{Completer, Draft, replicated};
use crate::passes::check_ports;

/// Whether a setting is spoken of in a part of the catalogue.
fn speaks_of(part: &impl Serialize, name: &str) -> bool {
    let text = serde_json::to_string(part).unwrap_or_default();
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    text.contains(&format!("\"{name}\""))
        || text.match_indices(&format!("setting.{name}")).any(|(at, found)| ends(&text[at + found.len()..]))
}

impl Completer<'_> {
    /// A setting that is there and that only a feature which is off does something with: it is kept for that.
    fn tell_of_unused(&mut self, draft: &Draft<'_>, base: &Component, component: &Component) {
        let rest =
            Component { settings: Default::default(), features: Default::default(), ..component.clone() };
        for name in draft.request.settings.keys().filter(|name| component.settings.contains_key(*name)) {
            if speaks_of(&rest, name) {
                continue;
            }
            let using = base.features.iter().filter(|(_, feature)| speaks_of(&feature.add, name));
            let flags: Vec<String> = using
                .filter(|(_, feature)| feature.when.is_none())
                .map(|(name, _)| format!("--{name}"))
                .collect();
            if let Some(first) = flags.first() {
                let (all, flag) = (flags.join(" or "), name.replace('_', "-"));
                let note = format!("--{flag} does nothing without {all}: eos update {} {first}", draft.name);
                self.note_choice(draft, note);
            }
        }
    }

    /// Every flag that the component as it is going to be knows nothing of: a success without them would be a lie.
    pub fn refuse_unused(&mut self, draft: &Draft<'_>, base: &Component, component: &Component) {
        let request = draft.request;
        let settings = request.settings.keys().chain(&request.secrets).chain(&request.wrong);
        let settings = settings.filter(|name| !component.settings.contains_key(*name));
        let needs = request.needs.keys().filter(|name| !component.needs.contains_key(*name));
        let unused = settings.map(|name| ("settings", name)).chain(needs.map(|name| ("needs", name)));
        for (part, name) in unused {
            let brings = |feature: &Feature| {
                let names = feature.add.get(part).and_then(Json::as_object);
                feature.when.is_none() && names.is_some_and(|names| names.contains_key(name))
            };
            let features = base.features.iter().filter(|(_, feature)| brings(feature));
            let features: Vec<String> = features.map(|(name, _)| format!("--{name}")).collect();
            let flag = name.replace('_', "-");
            let refused = match features.join(" or ") {
                none if none.is_empty() => {
                    let message = format!("{} as it would be has no --{flag}", draft.name);
                    Diagnostic::error(codes::UNKNOWN_SETTING, message).fix(format!("leave out --{flag}"))
                }
                features => {
                    let message = format!("--{flag} belongs to {features}, which {} has not", draft.name);
                    let fix = format!("add {features}, or leave out --{flag}");
                    Diagnostic::error(codes::UNKNOWN_SETTING, message).fix(fix)
                }
            };
            self.found.push(refused.why("nothing would come of it"));
        }
        self.tell_of_unused(draft, base, component);
        let runtime = draft.entry.get("runtime").and_then(Json::as_str);
        let ports = check_ports::port_settings(component, runtime);
        let chosen =
            ports.into_iter().filter(|port| replicated(draft) && request.settings.contains_key(*port));
        for flag in chosen.map(|port| port.replace('_', "-")) {
            let message = format!("{} runs several times over, where --{flag} says nothing", draft.name);
            let refused = Diagnostic::error(codes::UNKNOWN_SETTING, message);
            let refused = refused.why("each of several gets a port of Nomad's choice");
            self.found.push(refused.fix(format!("leave out --{flag}, or say --replicas 1")));
        }
    }
}
