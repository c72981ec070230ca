//! Filling in an entry: whatever the person did not say is chosen here and written down.

use std::collections::BTreeSet;
use std::sync::Arc;

use eos_catalog::component::Need;
use eos_catalog::{Component, SettingType, setting::SECRET_LENGTH};
use eos_model::{Diagnostic, Diagnostics, Name, SecretRef, codes};
use serde_json::{Map, Value as Json, json};

use super::chooser::Chooser;
use super::request::{Planned, PlannedEntry, Request, SecretSource, SecretToMake};
use super::volumes;
use crate::passes::{PASSES, expand_features, find_providers, place_units};
use crate::work::{Input, Work};

/// The order fields are written in.
const FIELDS: &[&str] = &[
    "kind",
    "created_for",
    "host",
    "runtime",
    "version",
    "binary",
    "tier",
    "cpu",
    "memory",
    "replicas",
    "features",
    "settings",
    "needs",
    "volumes",
    "secrets",
];

pub struct Completer<'a> {
    pub chooser: Chooser<'a>,
    pub planned: Planned,
    pub found: Diagnostics,
}

/// An entry in the making.
struct Draft<'r> {
    name: &'r str,
    kind: &'r str,
    entry: Map<String, Json>,
    request: &'r Request,
    because: Option<String>,
}

impl<'a> Completer<'a> {
    pub fn new(input: &'a Input<'a>) -> Completer<'a> {
        // The first passes tell which ports are in use; what is wrong with the estate is said when it is compiled.
        let mut work = Work::new(input);
        for pass in PASSES.iter().take_while(|pass| pass.name != "order units") {
            (pass.run)(&mut work);
        }
        Completer {
            chooser: Chooser::new(input.environment, input.catalog, &work),
            planned: Planned::default(),
            found: Diagnostics::new(),
        }
    }

    pub fn finish(self) -> Result<Planned, Diagnostics> {
        if self.found.has_errors() { Err(self.found) } else { Ok(self.planned) }
    }

    /// Completes an entry and, before it, whatever it needs and nobody offers yet.
    pub fn complete(
        &mut self,
        name: &str,
        kind: &str,
        entry: Map<String, Json>,
        request: &Request,
        because: Option<String>,
    ) {
        let mut draft = Draft { name, kind, entry, request, because };
        draft.entry.insert("kind".to_owned(), Json::from(kind));
        if let Err(found) = self.fill(&mut draft) {
            self.found.extend(found);
            return;
        }
        let Draft { entry, because, .. } = draft;
        let Ok(name) = name.parse::<Name>() else { return };
        let ordered: Map<String, Json> = FIELDS
            .iter()
            .filter_map(|field| Some(((*field).to_owned(), entry.get(*field)?.clone())))
            .filter(|(_, value)| !is_empty(value))
            .collect();
        let is_new = !self.chooser.environment.components.contains_key(&name);
        let entry = Json::Object(ordered);
        self.planned.entries.push(PlannedEntry { name, kind: kind.to_owned(), entry, is_new, because });
    }

    fn fill(&mut self, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
        let base = self.chooser.catalog.component(draft.kind)?;
        self.choose_runtime(draft, &base)?;
        let mut component = self.variant(draft)?;
        if place_units::needs_host(&component) && !draft.entry.contains_key("host") {
            let host = self.chooser.host(draft.name)?;
            if self.chooser.hosts().len() > 1 {
                self.note_choice(draft, format!("placed on host {host}, the least loaded"));
            }
            draft.entry.insert("host".to_owned(), Json::from(host));
        }
        self.check_host(draft);
        self.choose_nodes(draft, &component);
        self.chooser.add(draft.name, draft.kind, &Json::Object(draft.entry.clone()));
        self.choose_ports(draft, &component);
        // A met soft need may turn on a feature that needs something else.
        for _ in 0..4 {
            self.choose_providers(draft, &component);
            let next = self.variant(draft)?;
            if next.needs.keys().eq(component.needs.keys()) {
                component = next;
                break;
            }
            component = next;
        }
        self.forget_what_is_gone(draft, &component);
        self.choose_secrets(draft, &component);
        volumes::choose(self, draft.name, &mut draft.entry, &component);
        Ok(())
    }

    fn note_choice(&mut self, draft: &Draft<'_>, what: String) {
        self.planned.notes.push(format!("{}: {what}", draft.name));
    }

    fn choose_runtime(&mut self, draft: &mut Draft<'_>, base: &Component) -> Result<(), Diagnostics> {
        let runtimes: Vec<&str> = eos_catalog::check::runtimes(base).into_iter().flatten().collect();
        let chosen = draft.entry.get("runtime").and_then(Json::as_str).map(str::to_owned);
        let Some(runtime) = chosen.or_else(|| runtimes.first().map(|runtime| (*runtime).to_owned())) else {
            return Ok(());
        };
        if !runtimes.contains(&runtime.as_str()) {
            let fix = if runtimes.is_empty() {
                "leave out --runtime".to_owned()
            } else {
                format!("--runtime {}", runtimes.join(" or "))
            };
            return Err(Diagnostic::error(
                codes::NO_RUNTIME,
                format!("{} does not run as {runtime:?}", draft.kind),
            )
            .fix(fix)
            .into());
        }
        if runtime == "container" && !draft.entry.contains_key("version") {
            let version =
                base.runtimes.container.as_ref().and_then(|container| container.version.clone()).ok_or_else(
                    || {
                        Diagnostic::error(
                            codes::NO_VERSION,
                            format!("the catalogue knows no checked version of {}", draft.kind),
                        )
                        .why("eos never guesses an image's tag, and `latest` changes under your feet")
                        .fix(format!("eos create {} --version <tag>", draft.kind))
                    },
                )?;
            draft.entry.insert("version".to_owned(), Json::from(version));
        }
        if runtime == "host" && draft.entry.get("version").is_some() {
            draft.entry.shift_remove("version");
        }
        draft.entry.insert("runtime".to_owned(), Json::from(runtime));
        Ok(())
    }

    /// The component with the features that the draft turns on.
    fn variant(&self, draft: &Draft<'_>) -> Result<Arc<Component>, Diagnostics> {
        let base = self.chooser.catalog.component(draft.kind)?;
        let given: Vec<&str> = draft
            .entry
            .get("features")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        for feature in &given {
            if base.features.get(*feature).is_none_or(|feature| feature.when.is_some()) {
                return Err(Diagnostic::error(
                    codes::UNKNOWN_FEATURE,
                    format!("{} has no feature {feature:?}", draft.kind),
                )
                .into());
            }
        }
        let setting = |name: &str| draft.entry.get("settings").and_then(|settings| settings.get(name));
        let met = |need: &str| draft.entry.get("needs").is_some_and(|needs| needs.get(need).is_some());
        let on = expand_features::on(
            &base,
            given.into_iter(),
            |name| setting(name).or_else(|| base.settings.get(name)?.default.as_ref()),
            met,
        );
        self.chooser.catalog.variant(draft.kind, draft.entry.get("runtime").and_then(Json::as_str), &on)
    }

    fn check_host(&mut self, draft: &Draft<'_>) {
        let Some(host) = draft.entry.get("host").and_then(Json::as_str) else { return };
        if !self.chooser.environment.hosts.contains_key(host) {
            self.found.push(place_units::undeclared(self.chooser.environment, host));
        }
    }

    fn choose_nodes(&mut self, draft: &mut Draft<'_>, component: &Component) {
        if component.settings.get("nodes").is_none_or(|setting| setting.of != Some(SettingType::Host)) {
            return;
        }
        let settings = object(&mut draft.entry, "settings");
        if settings.contains_key("nodes") {
            return;
        }
        let hosts = self.chooser.hosts();
        if hosts.is_empty() {
            if let Err(diagnostic) = self.chooser.host(draft.name) {
                self.found.push(diagnostic);
            }
            return;
        }
        settings.insert("nodes".to_owned(), json!(hosts));
        self.note_choice(draft, format!("on {}", hosts.join(", ")));
    }

    fn choose_ports(&mut self, draft: &mut Draft<'_>, component: &Component) {
        let Some(host) = draft.entry.get("host").and_then(Json::as_str).map(str::to_owned) else { return };
        for task in component.tasks.values() {
            for port in task.ports.values() {
                let given = draft
                    .entry
                    .get("settings")
                    .and_then(|settings| settings.get(&port.setting))
                    .and_then(Json::as_i64);
                let default = component
                    .settings
                    .get(&port.setting)
                    .and_then(|setting| setting.default.as_ref())
                    .and_then(Json::as_i64);
                let Some(wanted) = given.or(default) else { continue };
                let (chosen, in_the_way) =
                    self.chooser.port(&host, (draft.name, &port.setting), wanted, port.protocol);
                if chosen == wanted {
                    object(&mut draft.entry, "settings").insert(port.setting.clone(), Json::from(chosen));
                    continue;
                }
                let other = in_the_way.unwrap_or_default();
                if given.is_some() {
                    self.found.push(
                        Diagnostic::error(
                            codes::PORT_TAKEN,
                            format!("port {wanted} on host {host} is taken by {other}"),
                        )
                        .fix(format!("--{} {chosen} is free", port.setting.replace('_', "-"))),
                    );
                } else {
                    self.note_choice(
                        draft,
                        format!("{} {chosen}, since {other} has {wanted} on {host}", port.setting),
                    );
                    object(&mut draft.entry, "settings").insert(port.setting.clone(), Json::from(chosen));
                }
            }
        }
    }

    fn choose_providers(&mut self, draft: &mut Draft<'_>, component: &Component) {
        for (need_name, need) in &component.needs {
            if need.offer == find_providers::EVERYTHING {
                continue;
            }
            if let Some(each) = &need.each {
                self.choose_each(draft, component, need_name, need, each);
                continue;
            }
            if let Some(asked) = draft.request.needs.get(need_name) {
                match self.check_provider(draft.name, need_name, need, asked) {
                    Ok(()) => {
                        object(&mut draft.entry, "needs")
                            .insert(need_name.clone(), Json::from(asked.as_str()));
                    }
                    Err(diagnostic) => self.found.push(diagnostic),
                }
                continue;
            }
            if draft.entry.get("needs").is_some_and(|needs| needs.get(need_name).is_some()) {
                continue;
            }
            if let Some(provider) = self.provider(draft, need_name, need) {
                object(&mut draft.entry, "needs").insert(need_name.clone(), Json::from(provider));
            }
        }
    }

    fn check_provider(
        &self,
        name: &str,
        need_name: &str,
        need: &Need,
        asked: &str,
    ) -> Result<(), Diagnostic> {
        let candidates = self.chooser.offering(&need.offer, name);
        if candidates.iter().any(|candidate| candidate == asked) {
            return Ok(());
        }
        let flag = need_name.replace('_', "-");
        let exists = self.chooser.kinds.contains_key(asked);
        let fix = match candidates.as_slice() {
            [] => match need.create.as_ref().filter(|_| !exists) {
                Some(kind) => format!("eos create {kind} {asked}, then this command again"),
                None => format!("leave out --{flag}: what offers it is made"),
            },
            several => format!("--{flag} {}", several.join(" or ")),
        };
        let message = if exists {
            format!("{asked} does not offer {}", need.offer)
        } else {
            format!("there is nothing named {asked:?} to offer {}", need.offer)
        };
        Err(Diagnostic::error(codes::NOTHING_OFFERS, message).fix(fix))
    }

    /// Who meets a need: somebody there, or somebody made now.
    fn provider(&mut self, draft: &Draft<'_>, need_name: &str, need: &Need) -> Option<String> {
        let candidates = self.chooser.offering(&need.offer, draft.name);
        if let Some(preferred) = self.chooser.preferred(&candidates) {
            if candidates.len() > 1 {
                self.note_choice(
                    draft,
                    format!(
                        "{need_name} is {preferred}; --{} names another of {}",
                        need_name.replace('_', "-"),
                        candidates.join(", ")
                    ),
                );
            }
            return Some(preferred);
        }
        if need.soft {
            return None;
        }
        if !candidates.is_empty() {
            let names: Vec<Name> = candidates.iter().filter_map(|name| name.parse().ok()).collect();
            let names: Vec<&Name> = names.iter().collect();
            if let Ok(unit) = draft.name.parse() {
                self.found.push(find_providers::two_offers(&unit, need_name, &need.offer, &names));
            }
            return None;
        }
        match &need.create {
            Some(kind) => self.pull_in(draft, kind, kind, need),
            None => {
                self.found.push(
                    Diagnostic::error(
                        codes::NOTHING_OFFERS,
                        format!("{} needs {} and nothing offers it", draft.name, need.offer),
                    )
                    .why(format!("it is for {}", need.help))
                    .fix("eos catalog list shows what there is"),
                );
                None
            }
        }
    }

    fn pull_in(&mut self, draft: &Draft<'_>, kind: &str, name: &str, need: &Need) -> Option<String> {
        if let Some(other) = self.chooser.kinds.get(name) {
            self.found.push(
                Diagnostic::error(
                    codes::NAME_TAKEN,
                    format!("{} needs a {kind}, but the name {name} belongs to a {other}", draft.name),
                )
                .fix(format!("eos create {kind} <another name>, then this command again")),
            );
            return None;
        }
        let request = Request { kind: kind.to_owned(), name: name.to_owned(), ..Request::default() };
        let because = format!("{} needs it for {}", draft.name, need.help);
        let entry = Map::from_iter([("created_for".to_owned(), Json::from(draft.name))]);
        self.complete(name, kind, entry, &request, Some(because));
        Some(name.to_owned())
    }

    /// A need that exists once for each name of a list setting.
    fn choose_each(
        &mut self,
        draft: &mut Draft<'_>,
        component: &Component,
        need_name: &str,
        need: &Need,
        setting: &str,
    ) {
        let given = draft.entry.get("settings").and_then(|settings| settings.get(setting)).cloned();
        let value = given.or_else(|| component.settings.get(setting)?.default.clone()).unwrap_or_default();
        let elements: Vec<String> =
            value.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
        let known =
            draft.entry.get("needs").and_then(|needs| needs.get(need_name)).cloned().unwrap_or_default();
        let mut chosen = Map::new();
        for element in elements {
            if let Some(before) = known.get(&element) {
                chosen.insert(element, before.clone());
                continue;
            }
            let named = self.chooser.offering(&need.offer, draft.name).contains(&element);
            let by_name = need.create.as_ref().is_some_and(|kind| {
                !self.chooser.kinds.contains_key(&element) && need.with.is_empty() && !kind.is_empty()
            });
            let provider = match (&need.create, named, by_name) {
                (_, true, _) => Some(element.clone()),
                // The element is the name of the thing itself.
                (Some(kind), _, true) => self.pull_in(draft, kind, &element, need),
                _ => draft
                    .request
                    .needs
                    .get(need_name)
                    .cloned()
                    .or_else(|| self.provider(draft, need_name, need)),
            };
            chosen.extend(provider.map(|provider| (element, Json::from(provider))));
        }
        if !chosen.is_empty() {
            object(&mut draft.entry, "needs").insert(need_name.to_owned(), Json::Object(chosen));
        }
    }

    /// A feature turned off takes its needs, volumes and secrets along.
    fn forget_what_is_gone(&mut self, draft: &mut Draft<'_>, component: &Component) {
        object(&mut draft.entry, "needs").retain(|need, _| component.needs.contains_key(need));
        object(&mut draft.entry, "volumes").retain(|volume, _| component.storage.contains_key(volume));
        object(&mut draft.entry, "settings").retain(|setting, _| component.settings.contains_key(setting));
    }

    fn choose_secrets(&mut self, draft: &mut Draft<'_>, component: &Component) {
        for (key, setting) in
            component.settings.iter().filter(|(_, setting)| setting.kind == SettingType::Secret)
        {
            let given = draft.request.secrets.contains(key);
            if !given && draft.entry.get("settings").is_some_and(|settings| settings.get(key).is_some()) {
                continue;
            }
            let length = setting.generate.unwrap_or(SECRET_LENGTH);
            if !given && length == 0 {
                let flag = key.replace('_', "-");
                let verb = if draft.because.is_some() {
                    format!("eos create {} --{flag} -, then this command again", draft.kind)
                } else {
                    format!("--{flag} -")
                };
                self.found.push(
                    Diagnostic::error(
                        codes::MISSING_SETTING,
                        format!("{} needs {key}: {}", draft.name, setting.help),
                    )
                    .fix(verb),
                );
                continue;
            }
            let source = if given { SecretSource::Given } else { SecretSource::Generate(length) };
            let before = draft.entry.get("settings").and_then(|settings| settings.get(key)).cloned();
            if let Some(reference) = self.make_secret(draft.name, key, before.as_ref(), source) {
                object(&mut draft.entry, "settings").insert(key.clone(), Json::from(reference));
            }
        }
        let wanted: BTreeSet<String> = self.generated_for(draft, component);
        object(&mut draft.entry, "secrets").retain(|key, _| wanted.contains(key));
        for key in wanted {
            if draft.entry.get("secrets").is_some_and(|secrets| secrets.get(&key).is_some()) {
                continue;
            }
            if let Some(reference) =
                self.make_secret(draft.name, &key, None, SecretSource::Generate(SECRET_LENGTH))
            {
                object(&mut draft.entry, "secrets").insert(key, Json::from(reference));
            }
        }
    }

    /// The keys of the secrets that the offers this entry uses generate for it.
    fn generated_for(&self, draft: &Draft<'_>, component: &Component) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        for (need_name, need) in &component.needs {
            let Some(provider) =
                draft.entry.get("needs").and_then(|needs| needs.get(need_name)).and_then(Json::as_str)
            else {
                continue;
            };
            let Some(kind) = self.chooser.kinds.get(provider) else { continue };
            let Ok(other) = self.chooser.catalog.component(kind) else { continue };
            let generates =
                other.offers.get(&need.offer).map(|offer| offer.generates.as_slice()).unwrap_or_default();
            keys.extend(generates.iter().map(|secret| format!("{need_name}_{secret}")));
        }
        keys
    }

    /// A reference to a new secret, or to the next version of one that was there.
    fn make_secret(
        &mut self,
        name: &str,
        key: &str,
        before: Option<&Json>,
        source: SecretSource,
    ) -> Option<String> {
        let before = before.and_then(Json::as_str).and_then(|text| text.parse::<SecretRef>().ok());
        let version = before.map_or(1, |reference| reference.version + 1);
        let reference = SecretRef {
            env: self.chooser.environment.name.clone(),
            name: name.parse().ok()?,
            key: key.parse().ok()?,
            version,
        };
        let text = reference.to_string();
        self.planned.secrets.push(SecretToMake { reference, source });
        Some(text)
    }
}

/// A mapping inside an entry, made when missing.
pub fn object<'e>(entry: &'e mut Map<String, Json>, key: &str) -> &'e mut Map<String, Json> {
    let slot = entry.entry(key.to_owned()).or_insert_with(|| Json::Object(Map::new()));
    if !slot.is_object() {
        *slot = Json::Object(Map::new());
    }
    match slot {
        Json::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Object(map) => map.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Null => true,
        _ => false,
    }
}
