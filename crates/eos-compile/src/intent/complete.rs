//! Filling in an entry: whatever the person did not say is chosen here and written down.

use std::sync::Arc;

use eos_catalog::{Catalog, Component};
use eos_model::{Diagnostic, Diagnostics, Name, SecretRef, codes};
use eos_pillar::ComponentEntry;
use serde_json::{Map, Value as Json, json};

use super::chooser::Chooser;
use super::request::{Planned, PlannedEntry, Request};
use super::volumes;
use crate::passes::check_ports::PortRange;
use crate::passes::{self, check_ports, expand_features, place_units, resolve_names};
use crate::work::{Input, Work};

/// The order fields are written in.
const FIELDS: &[&str] = &[
    "kind",
    "created_for",
    "host",
    "runtime",
    "version",
    "binary",
    "job",
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

/// What counts in one runtime only: the flag, the runtime, and why it says nothing in the other.
const OF_ONE_RUNTIME: &[(&str, &str, &str)] = &[
    ("binary", "host", "an image brings its program; --binary names one on the host itself"),
    ("version", "container", "on the host itself Debian's package says which version runs"),
];

/// How defaults end that stand for something of the person's own.
const PLACEHOLDER: &str = "example.org";

pub struct Completer<'a> {
    pub chooser: Chooser<'a>,
    pub planned: Planned,
    pub found: Diagnostics,
    /// Secrets the estate has a file of.
    pub kept: Vec<SecretRef>,
}

/// An entry in the making.
pub struct Draft<'r> {
    pub name: &'r str,
    pub kind: &'r str,
    pub entry: Map<String, Json>,
    pub request: &'r Request,
    pub because: Option<String>,
    /// Taken up from what was kept of its name, not said: what is taken by others gives way.
    pub as_before: Vec<(String, Json)>,
}

impl<'a> Completer<'a> {
    pub fn new(input: &'a Input<'a>, kept: &[SecretRef]) -> Completer<'a> {
        let mut work = Work::new(input);
        passes::describe(&mut work);
        Completer {
            chooser: Chooser::new(input, &work),
            planned: Planned::default(),
            found: Diagnostics::new(),
            kept: kept.to_vec(),
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
        let mut draft = Draft { name, kind, entry, request, because, as_before: Vec::new() };
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
        self.take_up_kept(draft, &base)?;
        self.choose_runtime(draft, &base)?;
        let mut component = self.variant(draft)?;
        if place_units::needs_host(&component) && !draft.entry.contains_key("host") {
            let host = self.chooser.host(draft.name)?;
            if replicated(draft) {
                self.note_choice(draft, "each replica is on a host and a port of Nomad's choice".to_owned());
            } else if self.chooser.hosts().len() > 1 {
                self.note_choice(draft, format!("placed on host {host}, the least loaded"));
            }
            draft.entry.insert("host".to_owned(), Json::from(host));
        }
        self.check_host(draft);
        self.tell_of_package(draft, &component);
        self.choose_nodes(draft, &component);
        self.chooser.add(draft.name, &component, &Json::Object(draft.entry.clone()));
        self.choose_ports(draft, &component);
        self.tell_of_what_was(draft);
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
        self.refuse_unused(draft, &base, &component);
        self.forget_what_is_gone(draft, &component);
        self.require_settings(draft, &component);
        self.choose_secrets(draft, &component);
        volumes::choose(self, draft, &component);
        match self.chooser.environment.components.get(draft.name) {
            None => {
                let notes = component.notes.iter().filter(|note| holds(note, draft));
                notes.for_each(|note| self.note_choice(draft, note.replace("@{name}", draft.name)));
                self.tell_of_placeholders(draft, &component, None);
            }
            Some(before) => {
                let before = with_features(self.chooser.catalog, before)?;
                self.tell_of_placeholders(draft, &component, Some(&before));
            }
        }
        Ok(())
    }

    /// A default that stands for something of the person's own, where it is used; where it was not used before.
    fn tell_of_placeholders(&mut self, draft: &Draft<'_>, component: &Component, before: Option<&Component>) {
        let said = |name: &str| draft.entry.get("settings").is_some_and(|all| all.get(name).is_some());
        let text = |component: &Component| {
            serde_json::to_string(&(&component.tasks, &component.needs)).unwrap_or_default()
        };
        let is_used = |text: &str, name: &str| {
            text.contains(&format!("@{{setting.{name}}}")) || text.contains(&format!("@{{setting.{name}|"))
        };
        let (used, used_before) = (text(component), before.map(text).unwrap_or_default());
        for (name, setting) in &component.settings {
            let default = setting.default.as_ref().and_then(Json::as_str).unwrap_or_default();
            let is_new = is_used(&used, name) && !is_used(&used_before, name);
            if said(name) || !default.ends_with(PLACEHOLDER) || !is_new {
                continue;
            }
            let flag = name.replace('_', "-");
            let until = if setting.fixed { "it cannot be changed once applied; before that " } else { "" };
            let how = format!("{until}eos update {} --{flag} <yours>", draft.name);
            self.note_choice(draft, format!("{name} is {default}, a placeholder: {how}"));
        }
    }

    /// What the plan has no line for: a program that is not there yet comes with a package.
    fn tell_of_package(&mut self, draft: &Draft<'_>, component: &Component) {
        let text = |key: &str| draft.entry.get(key).and_then(Json::as_str);
        let is_new = !self.chooser.environment.components.contains_key(draft.name);
        if let (Some(package), Some(host)) = (&component.runtimes.host, text("host"))
            && is_new
            && text("runtime") == Some("host")
        {
            let own = text("binary").is_some();
            if !own {
                let note =
                    format!("Debian's {} will be installed on {host}, its own service off", package.package);
                self.note_choice(draft, note);
            }
            let named = package.user.is_some() && !own;
            if !named && component.tasks.values().any(|task| task.user.is_none()) {
                self.note_choice(draft, format!("runs as root on {host}"));
            }
        }
    }

    pub fn note_choice(&mut self, draft: &Draft<'_>, what: String) {
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
        let given = |key: &str| draft.entry.get(key).and_then(Json::as_str);
        if let Some(problem) = given("version").and_then(|tag| resolve_names::wrong_version(draft.name, tag))
        {
            return Err(problem.fix("--version <tag>, the one that is meant").into());
        }
        if let Some(problem) = given("binary").and_then(|path| resolve_names::wrong_binary(draft.name, path))
        {
            return Err(problem.into());
        }
        for (flag, counts_in, why) in OF_ONE_RUNTIME.iter().filter(|(_, counts_in, _)| *counts_in != runtime)
        {
            if draft.request.common.contains_key(*flag) {
                let message =
                    format!("{} has the runtime {runtime}, where --{flag} says nothing", draft.name);
                let other =
                    runtimes.contains(counts_in).then(|| format!("--runtime {counts_in} as well, or "));
                return Err(Diagnostic::error(codes::NO_RUNTIME, message)
                    .why(*why)
                    .fix(format!("{}leave out --{flag}", other.unwrap_or_default()))
                    .into());
            }
            draft.entry.shift_remove(*flag);
        }
        draft.entry.insert("runtime".to_owned(), Json::from(runtime));
        Ok(())
    }

    /// The component with the features that the draft turns on.
    pub fn variant(&self, draft: &Draft<'_>) -> Result<Arc<Component>, Diagnostics> {
        variant(self.chooser.catalog, draft.kind, &draft.entry)
    }

    fn check_host(&mut self, draft: &Draft<'_>) {
        let Some(host) = draft.entry.get("host").and_then(Json::as_str) else { return };
        if !self.chooser.environment.hosts.contains_key(host) {
            self.found.push(place_units::undeclared(self.chooser.environment, host));
        }
    }

    fn choose_nodes(&mut self, draft: &mut Draft<'_>, component: &Component) {
        let Some(setting) = &component.states_on else { return };
        let settings = object(&mut draft.entry, "settings");
        if settings.contains_key(setting) {
            return;
        }
        let hosts = self.chooser.hosts();
        if hosts.is_empty() {
            if let Err(diagnostic) = self.chooser.host(draft.name) {
                self.found.push(diagnostic);
            }
            return;
        }
        settings.insert(setting.clone(), json!(hosts));
        self.note_choice(draft, format!("on {}", hosts.join(", ")));
    }

    fn choose_ports(&mut self, draft: &mut Draft<'_>, component: &Component) {
        if replicated(draft) {
            return;
        }
        let text = |key: &str| draft.entry.get(key).and_then(Json::as_str).map(str::to_owned);
        let (Some(host), runtime) = (text("host"), text("runtime")) else { return };
        let is_sound = |setting: &&str| !draft.request.wrong.contains(*setting);
        let settings = check_ports::port_settings(component, runtime.as_deref());
        for setting in settings.into_iter().filter(is_sound) {
            let Some((wanted, is_given)) = wanted_ports(draft, component, setting) else { continue };
            let is_given = is_given && !draft.as_before.iter().any(|(name, _)| name == setting);
            let flag = |setting: &str, value: &str| format!("--{} {value}", setting.replace('_', "-"));
            if let (Some(problem), Some(end)) = (wanted.problem(), wanted.ends_with) {
                let wrong = Diagnostic::error(codes::BAD_VALUE, format!("{}: {problem}", draft.name));
                let fix = format!("{} {}", flag(setting, "<first port>"), flag(end, "<last port>"));
                self.found.push(wrong.why(check_ports::BACKWARDS).fix(fix));
                continue;
            }
            let (first, in_the_way) = self.chooser.port(&host, draft.name, &wanted);
            let last = first.saturating_add(wanted.last - wanted.first);
            let chosen = PortRange { first, last, ..wanted };
            let (port, other) = in_the_way.unwrap_or_default();
            // Where a range meets somebody, which port of it; a single one is what it is.
            let taken = match wanted.ends_with {
                None => format!("port {wanted} on host {host} is taken by {other}"),
                Some(_) => format!("{other} has port {port} on host {host}, one of {wanted}"),
            };
            if chosen != wanted && component.starts_nothing() {
                let message = format!("{taken}, and {} listens there", draft.name);
                let own = flag(setting, "<port>");
                let own = match &draft.because {
                    Some(_) => format!("eos create {} {own}, then this command again", draft.kind),
                    None => own,
                };
                let other_flag = flag(&other.setting, "<another port>");
                let fix = format!(
                    "eos update {} {other_flag}; or say where it really listens: {own}",
                    other.argument()
                );
                let why =
                    format!("eos starts no {}: writing down another port would not move it", draft.kind);
                self.found.push(Diagnostic::error(codes::PORT_TAKEN, message).why(why).fix(fix));
                continue;
            }
            if chosen != wanted && is_given {
                let free = match wanted.ends_with {
                    None => format!("{} is free", flag(setting, &first.to_string())),
                    Some(end) => format!(
                        "{} {} are free",
                        flag(setting, &first.to_string()),
                        flag(end, &last.to_string())
                    ),
                };
                let taken = Diagnostic::error(codes::PORT_TAKEN, taken);
                self.found.push(taken.why(check_ports::ONE_LISTENS).fix(free));
                continue;
            }
            if chosen != wanted {
                let to = wanted.ends_with.map(|end| format!(" to {end} {last}")).unwrap_or_default();
                self.note_choice(draft, format!("{setting} {first}{to}, since {other} has {port} on {host}"));
            }
            let settings = object(&mut draft.entry, "settings");
            settings.insert(setting.to_owned(), Json::from(first));
            if let Some(end) = wanted.ends_with {
                settings.insert(end.to_owned(), Json::from(last));
            }
        }
    }

    /// What has no sensible default must be said.
    fn require_settings(&mut self, draft: &Draft<'_>, component: &Component) {
        let said = |name: &str| {
            let settings = draft.entry.get("settings");
            settings.is_some_and(|settings| settings.get(name).is_some())
                || draft.request.wrong.contains(name)
        };
        for (name, setting) in
            component.settings.iter().filter(|(name, setting)| setting.required && !said(name))
        {
            let flag = format!("--{} <{}>", name.replace('_', "-"), setting.kind.as_str());
            let fix = match &draft.because {
                Some(_) => format!("eos create {} {flag}, then this command again", draft.kind),
                None => flag,
            };
            let message = format!("{} needs {name}: {}", draft.name, setting.help);
            self.found.push(Diagnostic::error(codes::MISSING_SETTING, message).fix(fix));
        }
    }

    /// A feature turned off takes its needs, volumes and secrets along.
    fn forget_what_is_gone(&mut self, draft: &mut Draft<'_>, component: &Component) {
        object(&mut draft.entry, "needs").retain(|need, _| component.needs.contains_key(need));
        object(&mut draft.entry, "volumes").retain(|volume, _| component.storage.contains_key(volume));
        object(&mut draft.entry, "settings").retain(|setting, _| component.settings.contains_key(setting));
    }
}

/// The ports that a setting of a draft is to name, and whether a person said so. A range that is only told where to begin is
/// as wide as usual.
fn wanted_ports<'c>(
    draft: &Draft<'_>,
    component: &'c Component,
    setting: &'c str,
) -> Option<(PortRange<'c>, bool)> {
    let given = |name: &str| draft.entry.get("settings")?.get(name)?.as_i64();
    let default = |name: &str| component.settings.get(name)?.default.as_ref()?.as_i64();
    let usual = PortRange::of(component, setting, default);
    let mut wanted = PortRange::of(component, setting, |name| given(name).or_else(|| default(name)))?;
    let said = (given(setting).is_some(), wanted.ends_with.and_then(given).is_some());
    if let (Some(usual), (true, false)) = (usual, said) {
        wanted.last = wanted.first.saturating_add(usual.last - usual.first);
    }
    Some((wanted, said.0 || said.1))
}

/// A component with the features that an entry turns on, by a flag, a setting or a met need.
fn variant(catalog: &Catalog, kind: &str, entry: &Map<String, Json>) -> Result<Arc<Component>, Diagnostics> {
    let base = catalog.component(kind)?;
    let given: Vec<&str> = entry
        .get("features")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    for feature in &given {
        if base.features.get(*feature).is_none_or(|feature| feature.when.is_some()) {
            let message = format!("{kind} has no feature {feature:?}");
            return Err(Diagnostic::error(codes::UNKNOWN_FEATURE, message).into());
        }
    }
    let setting = |name: &str| entry.get("settings").and_then(|settings| settings.get(name));
    let met = |need: &str| entry.get("needs").is_some_and(|needs| needs.get(need).is_some());
    let on = expand_features::on(
        &base,
        given.into_iter(),
        |name| setting(name).or_else(|| base.settings.get(name)?.default.as_ref()),
        met,
    );
    catalog.variant(kind, entry.get("runtime").and_then(Json::as_str), &on)
}

/// The component of an entry that is there, with its features: they may bring settings, needs and volumes. Where its
/// features are wrong, which is told elsewhere, the component as it is without any.
pub fn with_features(catalog: &Catalog, entry: &ComponentEntry) -> Result<Arc<Component>, Diagnostics> {
    let fields = entry.node.to_json();
    let found = variant(catalog, &entry.kind, fields.as_object().unwrap_or(&Map::new()));
    found.or_else(|_| catalog.component(&entry.kind))
}

/// A note that begins with `without --flag` is for those who left that flag out.
fn holds(note: &str, draft: &Draft<'_>) -> bool {
    let flag = note.strip_prefix("without --").and_then(|rest| rest.split(' ').next());
    let Some(name) = flag.map(|flag| flag.replace('-', "_")) else { return true };
    let said = |section: &str, name: &str| {
        draft.entry.get(section).is_some_and(|section| match section {
            Json::Array(words) => words.iter().any(|word| word.as_str() == Some(name)),
            fields => fields.get(name).is_some(),
        })
    };
    !(said("settings", &name) || said("features", &name) || said("features", &name.replace('_', "-")))
}

/// Whether several of it run, where Nomad puts them.
pub fn replicated(draft: &Draft<'_>) -> bool {
    draft.entry.get("replicas").and_then(Json::as_i64).is_some_and(|replicas| replicas > 1)
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
