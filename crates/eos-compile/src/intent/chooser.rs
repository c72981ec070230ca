//! Choices: a host, a port, who meets a need. Made once, when a person says create.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use eos_catalog::component::Offer;
use eos_catalog::{Catalog, Component};
use eos_model::{Diagnostic, EnvName, UnitId, codes};
use eos_pillar::Environment;
use serde_json::Value as Json;

use super::complete::with_features;
use super::host::declare_here_too;
use crate::machines::{Machine, Machines};
use crate::passes::check_ports::{self, PortRange};
use crate::work::{Input, Work};

const LAST_PORT: i64 = 65_535;

/// Whose a port is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortOwner {
    pub name: String,
    /// Where that is, unless it is here.
    env: Option<EnvName>,
    /// What names the port.
    pub setting: String,
}

impl PortOwner {
    /// As a command names it.
    pub fn argument(&self) -> String {
        let env = self.env.as_ref().map(|env| format!(" --env {env}"));
        format!("{}{}", self.name, env.unwrap_or_default())
    }
}

impl fmt::Display for PortOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.env {
            None => write!(f, "{}", self.name),
            Some(env) => write!(f, "{} of {env}", self.name),
        }
    }
}

/// What is there already, counting what this very command adds.
pub struct Chooser<'a> {
    pub environment: &'a Environment,
    pub catalog: &'a Catalog,
    machines: Machines<'a>,
    /// Machine → port → who has it, and for which setting; of no machine is what nobody declared, which is told elsewhere.
    ports: BTreeMap<Option<Machine>, BTreeMap<i64, PortOwner>>,
    /// Name → kind of everything in the environment.
    pub kinds: BTreeMap<String, String>,
    /// Name → what it is with the features that are on, which may bring offers.
    components: BTreeMap<String, Arc<Component>>,
    /// Host → how many components it carries.
    pub load: BTreeMap<String, usize>,
}

impl<'a> Chooser<'a> {
    pub fn new(input: &'a Input<'a>, work: &Work<'_>) -> Chooser<'a> {
        let environment = input.environment;
        let mut chooser = Chooser {
            environment,
            catalog: input.catalog,
            machines: Machines::new(&environment.hosts),
            ports: BTreeMap::new(),
            kinds: BTreeMap::new(),
            components: BTreeMap::new(),
            load: BTreeMap::new(),
        };
        for (name, entry) in &environment.components {
            chooser.kinds.insert(name.to_string(), entry.kind.clone());
            if let Ok(component) = with_features(input.catalog, entry) {
                chooser.components.insert(name.to_string(), component);
            }
            if let Some(host) = &entry.host {
                *chooser.load.entry(host.clone()).or_default() += 1;
            }
        }
        for unit in work.units.values() {
            let Some(host) = &unit.entry.host else { continue };
            for range in check_ports::ports(unit) {
                chooser.take(host, &unit.id, &range);
            }
        }
        for claim in input.others.iter().flat_map(|claims| &claims.ports) {
            chooser.take(claim.host.as_str(), &claim.unit, &claim.range());
        }
        chooser
    }

    fn take(&mut self, host: &str, unit: &UnitId, range: &PortRange<'_>) {
        let env = Some(&unit.env).filter(|env| **env != self.environment.name).cloned();
        let owner = PortOwner { name: unit.name.to_string(), env, setting: range.setting.to_owned() };
        let taken = self.ports.entry(self.machines.of(host)).or_default();
        taken.extend((range.first..=range.last.min(LAST_PORT)).map(|port| (port, owner.clone())));
    }

    /// The least loaded host of the environment, by name among equals.
    pub fn host(&self, name: &str) -> Result<String, Diagnostic> {
        let own = self.hosts();
        own.iter()
            .min_by_key(|host| (self.load.get(host.as_str()).copied().unwrap_or(0), (*host).clone()))
            .cloned()
            .ok_or_else(|| {
                Diagnostic::error(
                    codes::NO_HOST,
                    format!("{name} needs a host and {} has none", self.environment.name),
                )
                .why("eos configures only machines that somebody declared, this one included")
                .fix(self.declare_this_machine())
            })
    }

    /// The command that declares the machine one is at. Its name may be that of another environment's host.
    fn declare_this_machine(&self) -> String {
        match self.environment.hosts.get("local") {
            Some(host) => {
                let reached = [&host.address, &host.connection, &host.nomad_node];
                declare_here_too(self.environment, &host.name, reached)
            }
            None => format!("eos create host local --env {}", self.environment.name),
        }
    }

    /// The hosts of this environment.
    pub fn hosts(&self) -> Vec<String> {
        let ours = |entry: &&eos_pillar::HostEntry| entry.environment == self.environment.name.as_str();
        self.environment.hosts.values().filter(ours).map(|entry| entry.name.to_string()).collect()
    }

    /// Takes what is wanted on the host if it is free, else as many ports at the next free place above; gives the first of
    /// them, and which port was taken already, by whom and with which setting.
    pub fn port(
        &mut self,
        host: &str,
        name: &str,
        wanted: &PortRange<'_>,
    ) -> (i64, Option<(i64, PortOwner)>) {
        let taken = self.ports.entry(self.machines.of(host)).or_default();
        let owner = PortOwner { name: name.to_owned(), env: None, setting: wanted.setting.to_owned() };
        // What a pillar says was not checked yet.
        let more = (wanted.last - wanted.first).min(LAST_PORT);
        let is_other = |(_, other): &(&i64, &PortOwner)| **other != owner;
        let in_the_way = taken.range(wanted.first..=wanted.last).find(is_other);
        let in_the_way = in_the_way.map(|(port, other)| (*port, other.clone()));
        let mut first = wanted.first;
        while let Some((highest, _)) = taken.range(first..=first + more).rfind(is_other) {
            // Without room above it stays taken, which the compiler says.
            if highest + 1 + more > LAST_PORT {
                break;
            }
            first = highest + 1;
        }
        taken.extend((first..=first + more).map(|port| (port, owner.clone())));
        (first, in_the_way)
    }

    /// The names that offer something, sorted.
    pub fn offering(&self, offer: &str, except: &str) -> Vec<String> {
        let others = self.kinds.keys().filter(|name| name.as_str() != except);
        others.filter(|name| self.offer(name, offer).is_some()).cloned().collect()
    }

    /// What is behind a name, with the features that are on.
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.get(name).map(|component| &**component)
    }

    pub fn offer(&self, name: &str, offer: &str) -> Option<&Offer> {
        self.component(name)?.offers.get(offer)
    }

    /// The flag that would let somebody offer something.
    pub fn flag_towards(&self, name: &str, offer: &str) -> Option<String> {
        self.component(name)?.brings(offer)
    }

    /// Of several, the one with its kind's own name; of one, that one.
    pub fn preferred(&self, candidates: &[String]) -> Option<String> {
        match candidates {
            [only] => Some(only.clone()),
            several => {
                let plain: BTreeSet<&String> =
                    several.iter().filter(|name| self.kinds.get(*name) == Some(*name)).collect();
                if plain.len() == 1 { plain.into_iter().next().cloned() } else { None }
            }
        }
    }

    pub fn add(&mut self, name: &str, component: &Arc<Component>, entry: &Json) {
        self.kinds.insert(name.to_owned(), component.kind.clone());
        self.components.insert(name.to_owned(), Arc::clone(component));
        if let Some(host) = entry.get("host").and_then(Json::as_str) {
            *self.load.entry(host.to_owned()).or_default() += 1;
        }
    }
}
