//! Checks beyond the schema: that everything a component refers to exists.
//!
//! These run in `eos catalog check` and in the tests of the built-in catalogue, not on every command.

use std::collections::BTreeSet;

use eos_model::{Diagnostic, Diagnostics, Duration, Place, codes};
use serde_json::Value as Json;

use crate::catalog::Catalog;
use crate::component::{Component, Task, Update, When};
use crate::file_names;
use crate::flags;
use crate::network::Network;
use crate::setting::{Setting, SettingType};

mod references;

use references::{all_texts, references};

/// Everything wrong with a kind, over all of its variants.
pub fn check(catalog: &Catalog, kind: &str) -> Diagnostics {
    let mut checker = Checker { catalog, kind, found: Diagnostics::new() };
    match catalog.component(kind) {
        Err(found) => return found,
        Ok(component) => checker.component(&component),
    }
    checker.found
}

/// What is wrong with the flags of a component. Every command that has them asks: it could not be built otherwise.
pub fn flags(catalog: &Catalog, kind: &str, component: &Component) -> Result<(), Diagnostics> {
    let mut checker = Checker { catalog, kind, found: Diagnostics::new() };
    checker.flags(component);
    if checker.found.is_empty() { Ok(()) } else { Err(checker.found) }
}

/// The runtimes a component has, `None` when it has no process.
pub fn runtimes(component: &Component) -> Vec<Option<&'static str>> {
    let mut names = Vec::new();
    names.extend(component.runtimes.container.as_ref().map(|_| Some("container")));
    names.extend(component.runtimes.host.as_ref().map(|_| Some("host")));
    if names.is_empty() { vec![None] } else { names }
}

struct Checker<'a> {
    catalog: &'a Catalog,
    kind: &'a str,
    found: Diagnostics,
}

impl Checker<'_> {
    fn error(&mut self, message: String) {
        let place = Place::file(self.catalog.file(self.kind));
        self.error_at(message, place);
    }

    fn error_at(&mut self, message: String, place: Place) {
        let fix = format!("correct {}, then eos catalog check {}", place.file, self.kind);
        self.found.push(Diagnostic::error(codes::BAD_COMPONENT, message).at(place).fix(fix));
    }

    fn component(&mut self, component: &Component) {
        if component.summary.chars().count() > 60 {
            self.error(format!("the summary has more than 60 characters: {:?}", component.summary));
        }
        if let Some(container) = &component.runtimes.container
            && (container.image.rsplit('/').next().unwrap_or_default().contains(':')
                || container.version.as_deref() == Some("latest"))
        {
            self.error("an image is named without its tag, and `latest` is never a version".to_owned());
        }
        if let Some(pattern) = &component.name_pattern
            && let Err(error) = regex_lite::Regex::new(pattern)
        {
            self.error(format!("name_pattern {pattern} cannot be read: {error}"));
        }
        for alias in component.aliases.iter().filter(|alias| self.catalog.folder(alias).is_some()) {
            self.error(format!("the alias {alias:?} is a kind of its own"));
        }
        for (name, setting) in component.operations.values().flat_map(|operation| &operation.args) {
            self.setting(name, setting);
        }
        for (name, feature) in &component.features {
            let exists = match &feature.when {
                None => true,
                Some(When::Setting(setting)) => component.settings.contains_key(setting),
                Some(When::Need(need)) => component.needs.get(need).is_some_and(|need| need.soft),
            };
            if !exists {
                self.error(format!(
                    "feature {name} waits for something that does not exist: {:?}",
                    feature.when
                ));
            }
        }
        let all: BTreeSet<String> = component.features.keys().cloned().collect();
        // One alone may lack what it only has beside another.
        let alone = component.features.keys().map(|feature| BTreeSet::from([feature.clone()]));
        let variants: Vec<BTreeSet<String>> =
            [BTreeSet::new()].into_iter().chain(alone).chain([all]).collect();
        for runtime in runtimes(component) {
            for features in &variants {
                match self.catalog.variant(self.kind, runtime, features) {
                    Ok(variant) => self.variant(&variant),
                    Err(found) => self.found.extend(found),
                }
            }
        }
        let mut seen: Vec<Diagnostic> = Vec::new();
        self.found.0.retain(|found| {
            !seen.contains(found) && {
                seen.push(found.clone());
                true
            }
        });
    }

    fn flags(&mut self, component: &Component) {
        for problem in flags::problems(component) {
            self.error(problem);
        }
    }

    fn setting(&mut self, name: &str, setting: &Setting) {
        for value in setting.default.iter().chain(&setting.example) {
            if setting.kind == SettingType::Secret {
                self.error(format!("setting {name}: a secret has neither default nor example"));
            } else if let Err(problem) = setting.check(value) {
                self.error(format!("setting {name}: {problem}"));
            }
        }
        if setting.kind == SettingType::Enum && setting.values.is_empty() {
            self.error(format!("setting {name}: an enum needs values"));
        }
        if setting.first_start.is_some() && setting.kind != SettingType::Secret {
            self.error(format!("setting {name}: first_start is for secrets; fixed is for the rest"));
        }
        if setting.required && setting.default.is_some() {
            self.error(format!("setting {name}: required, yet it has a default"));
        }
    }

    fn variant(&mut self, component: &Component) {
        for problem in file_names::problems(component) {
            self.error(problem);
        }
        self.flags(component);
        for (name, setting) in &component.settings {
            self.setting(name, setting);
        }
        for (name, need) in &component.needs {
            let Some(kind) = &need.create else { continue };
            match self.catalog.component(kind) {
                Ok(other) if other.offers.contains_key(&need.offer) => {}
                Ok(other) if let Some(feature) = other.brings(&need.offer) => self.error(format!(
                    "need {name}: creates {kind:?}, which offers {:?} with --{feature} only: leave out create",
                    need.offer
                )),
                _ => self
                    .error(format!("need {name}: creates {kind:?}, which does not offer {:?}", need.offer)),
            }
        }
        if component.stateless && !component.storage.is_empty() {
            self.error("a stateless component has no storage".to_owned());
        }
        for (name, offer) in &component.offers {
            for taken in offer.unique.iter().filter(|taken| !offer.takes.contains_key(*taken)) {
                self.error(format!("offer {name}: {taken:?} is to be unique, yet it is not taken"));
            }
            for taken in offer.reserved.keys().filter(|taken| !offer.takes.contains_key(*taken)) {
                self.error(format!("offer {name}: of {taken:?} some are reserved, yet it is not taken"));
            }
        }
        self.update(&component.update);
        self.ranges(component);
        self.networks(component);
        self.held(component);
        if let Some(setting) = &component.states_on {
            let is_list = |setting: &Setting| {
                setting.kind == SettingType::List && setting.of == Some(SettingType::Host)
            };
            if !component.settings.get(setting).is_some_and(is_list) {
                self.error(format!(
                    "states_on names {setting:?}, which is not a setting with a list of hosts"
                ));
            }
        }
        for (name, volume) in &component.storage {
            if volume.filesystem.is_some() && volume.class.filesystem().is_none() {
                self.error(format!(
                    "volume {name}: what may be lost, and what several hosts share, chooses no filesystem"
                ));
            }
            if let Some(need) = &volume.shared_by
                && !component.needs.contains_key(need)
            {
                self.error(format!("volume {name} is shared by {need:?}, which is not a need"));
            }
        }
        for (name, task) in &component.tasks {
            self.task(component, name, task);
        }
        let json = serde_json::to_value(component).unwrap_or_default();
        for section in ["needs", "offers", "storage", "tasks", "states", "undo_states", "cloud", "outputs"] {
            self.texts(
                component,
                section,
                json.get(section).unwrap_or(&Json::Null),
                section == "tasks" || section == "offers",
            );
        }
        for (verb, operation) in &component.operations {
            for name in operation.at_least_one.iter().filter(|name| !operation.args.contains_key(*name)) {
                self.error(format!(
                    "operation {verb}: at_least_one names {name}, which is not one of its arguments"
                ));
            }
            for name in operation.acts_on.keys().filter(|name| !operation.args.contains_key(*name)) {
                self.error(format!(
                    "operation {verb}: acts_on names {name}, which is not one of its arguments"
                ));
            }
            for kind in operation.belongs_to.iter().filter(|kind| self.catalog.component(kind).is_err()) {
                self.error(format!("operation {verb}: belongs_to names {kind}, which is no kind"));
            }
            let states = serde_json::to_value(&operation.states).unwrap_or_default();
            let because = operation.data.as_ref().and_then(|data| data.because.as_deref());
            for text in all_texts(&states).into_iter().chain(because) {
                for reference in references(text) {
                    if reference.root == "arg" && !operation.args.contains_key(&reference.rest) {
                        self.error(format!("operation {verb}: {reference} is not one of its arguments"));
                    }
                }
            }
        }
    }

    /// Ranges of ports: two settings, the first of which comes first.
    fn ranges(&mut self, component: &Component) {
        let port =
            |name: &str| component.settings.get(name).filter(|setting| setting.kind == SettingType::Port);
        for (name, setting) in &component.settings {
            let Some(end) = &setting.range_to else { continue };
            let (Some(first), Some(last)) = (port(name), port(end).filter(|last| last.range_to.is_none()))
            else {
                self.error(format!(
                    "setting {name}: a range goes from one port setting to another, not to {end:?}"
                ));
                continue;
            };
            let number = |setting: &Setting| setting.default.as_ref().and_then(Json::as_i64);
            if let (Some(from), Some(to)) = (number(first), number(last))
                && from > to
            {
                self.error(format!("setting {name}: its default {from} is above that of {end}, {to}"));
            }
        }
    }

    /// Sizes that a task holds in memory.
    fn held(&mut self, component: &Component) {
        for (name, setting) in &component.settings {
            let Some(task) = &setting.held_by else { continue };
            if setting.kind != SettingType::Size || !component.tasks.contains_key(task) {
                self.error(format!("setting {name}: held_by is for a size and names a task, not {task:?}"));
            }
        }
    }

    /// Networks that are a part of another setting's.
    fn networks(&mut self, component: &Component) {
        let cidr =
            |name: &str| component.settings.get(name).filter(|setting| setting.kind == SettingType::Cidr);
        for (name, setting) in &component.settings {
            let Some(whole) = &setting.within else { continue };
            let (Some(part), Some(all)) = (cidr(name), cidr(whole)) else {
                self.error(format!("setting {name}: a network is within another one, not within {whole:?}"));
                continue;
            };
            let network = |setting: &Setting| -> Option<Network> {
                setting.default.as_ref().and_then(Json::as_str).and_then(|text| text.parse().ok())
            };
            if let (Some(part), Some(all)) = (network(part), network(all))
                && !all.holds(&part)
            {
                self.error(format!("setting {name}: its default is not within that of {whole}"));
            }
        }
    }

    /// Times that Nomad would take.
    fn update(&mut self, update: &Update) {
        let mut seconds = |name: &str, text: &Option<String>| -> Option<u64> {
            match text.as_ref()?.parse::<Duration>() {
                Ok(duration) => Some(duration.0),
                Err(problem) => {
                    self.error(format!("update: {name}: {problem}"));
                    None
                }
            }
        };
        seconds("stagger", &update.stagger);
        // Where it is by the tier, the longest that it can be.
        let well = seconds("min_healthy_time", &update.min_healthy_time).unwrap_or(Update::LONGEST_WELL);
        let within =
            seconds("healthy_deadline", &update.healthy_deadline).unwrap_or(Update::HEALTHY_DEADLINE);
        let next = seconds("progress_deadline", &update.progress_deadline).unwrap_or(2 * within);
        if !(well < within && within < next) {
            self.error(format!(
                "update: min_healthy_time ({well}s) has to be below healthy_deadline ({within}s), and that below progress_deadline ({next}s)"
            ));
        }
    }

    fn task(&mut self, component: &Component, name: &str, task: &Task) {
        for (port, spec) in &task.ports {
            if component.settings.get(&spec.setting).is_none_or(|setting| setting.kind != SettingType::Port) {
                self.error(format!(
                    "task {name}: port {port} names {:?}, which is not a port setting",
                    spec.setting
                ));
            }
        }
        for volume in task.mounts.keys().filter(|volume| !component.storage.contains_key(*volume)) {
            self.error(format!("task {name} mounts {volume:?}, which is not in storage"));
        }
        for check in task.checks.iter().filter(|check| !task.ports.contains_key(&check.port)) {
            self.error(format!(
                "task {name}: a check names the port {:?}, which it does not have",
                check.port
            ));
        }
        for text in task.args.iter().chain(&task.command) {
            for reference in references(text) {
                let secret = reference.root == "setting"
                    && component.settings.get(&reference.rest).is_some_and(|s| s.kind == SettingType::Secret);
                if secret {
                    self.error(format!(
                        "task {name}: {reference} is a secret in a process's arguments, which anyone can list"
                    ));
                }
            }
        }
    }
}
