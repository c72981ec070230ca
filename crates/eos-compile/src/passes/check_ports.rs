//! No two tasks on one machine listen on the same port, and no range of ports has another's inside. A machine may be a
//! host of several environments: what the others listen on counts too.

use std::collections::BTreeMap;
use std::fmt;

use eos_catalog::component::Protocol;
use eos_catalog::{Component, SettingType};
use eos_model::{Diagnostic, HostName, Name, UnitId, codes};
use eos_yaml::Node;

use crate::machines::{Machine, Machines};
use crate::work::{Unit, Work};

/// Why a port is one program's.
pub const ONE_LISTENS: &str = "two programs cannot listen on one port of one host";

/// The settings of a component that name a port of its host, or the first of a range. In a container only published
/// ports are the host's; as a host process, or where eos merely knows of it, every port is.
pub fn port_settings<'c>(component: &'c Component, runtime: Option<&str>) -> Vec<&'c str> {
    let ports = component.tasks.values().flat_map(|task| task.ports.values());
    let mut found: Vec<&str> = ports.map(|port| port.setting.as_str()).collect();
    if runtime != Some("container") {
        let ends =
            |name: &str| component.settings.values().any(|setting| setting.range_to.as_deref() == Some(name));
        for (name, _) in component.settings.iter().filter(|(_, setting)| setting.kind == SettingType::Port) {
            if !found.contains(&name.as_str()) && !ends(name) {
                found.push(name);
            }
        }
    }
    found
}

/// The ports of a host that a setting names: one, or all of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRange<'c> {
    pub setting: &'c str,
    pub first: i64,
    pub last: i64,
    /// The setting with the last one, where it is a range.
    pub ends_with: Option<&'c str>,
}

impl<'c> PortRange<'c> {
    /// What a setting of a component names, as `number` tells the values of settings.
    pub fn of(
        component: &'c Component,
        setting: &'c str,
        number: impl Fn(&str) -> Option<i64>,
    ) -> Option<PortRange<'c>> {
        let first = number(setting)?;
        let ends_with = component.settings.get(setting).and_then(|setting| setting.range_to.as_deref());
        let last = ends_with.and_then(number).unwrap_or(first);
        Some(PortRange { setting, first, last, ends_with })
    }

    /// Why it is no range, if so.
    pub fn problem(&self) -> Option<String> {
        let end = self.ends_with.filter(|_| self.first > self.last)?;
        Some(format!("{} {} is above {end} {}", self.setting, self.first, self.last))
    }

    /// `port 80`, or `ports 49160-49200`.
    pub fn described(&self) -> String {
        let word = if self.ends_with.is_some() { "ports" } else { "port" };
        format!("{word} {self}")
    }

    fn meets(&self, other: &PortRange<'_>) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl fmt::Display for PortRange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ends_with {
            None => write!(f, "{}", self.first),
            Some(_) => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

/// The host ports of a unit. Nomad gives a number to one of its jobs, whatever the protocol.
pub fn ports<'u>(unit: &'u Unit<'_>) -> Vec<PortRange<'u>> {
    // Replicas get ports of Nomad's choice.
    if unit.is_replicated() {
        return Vec::new();
    }
    let number = |setting: &str| unit.settings.get(setting).and_then(|setting| setting.value.as_i64());
    port_settings(&unit.component, unit.runtime())
        .into_iter()
        .filter_map(|setting| PortRange::of(&unit.component, setting, number))
        .collect()
}

/// A port of a host that a program is going to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listens {
    /// The setting that says so.
    pub setting: String,
    pub port: u16,
    pub protocol: Protocol,
}

/// The ports that what a unit starts listens on. What eos only knows of listens already; of a range a program takes what
/// is free when it needs one.
pub fn listens(unit: &Unit<'_>) -> Vec<Listens> {
    if unit.runtime().is_none() {
        return Vec::new();
    }
    let protocols = |setting: &str| -> Vec<Protocol> {
        let mut ports = unit.component.tasks.values().flat_map(|task| task.ports.values());
        let port = ports.find(|port| port.setting == setting);
        port.map_or(vec![Protocol::Tcp], |port| port.protocol.protocols().to_vec())
    };
    let one = |range: PortRange<'_>| {
        let port = u16::try_from(range.first).ok().filter(|_| range.ends_with.is_none())?;
        let named = |protocol| Listens { setting: range.setting.to_owned(), port, protocol };
        Some(protocols(range.setting).into_iter().map(named).collect::<Vec<_>>())
    };
    ports(unit).into_iter().filter_map(one).flatten().collect()
}

/// Whose ports are.
#[derive(Clone, Copy)]
struct Owner<'w> {
    unit: &'w UnitId,
    host: &'w HostName,
    range: PortRange<'w>,
    /// Where it is written, unless in another environment.
    node: Option<&'w Node>,
}

/// What is taken on the machines so far: single ports, and the few ranges.
#[derive(Default)]
struct Taken<'w> {
    single: BTreeMap<(Machine, i64), Owner<'w>>,
    ranges: Vec<(Machine, Owner<'w>)>,
}

impl<'w> Taken<'w> {
    /// Takes ports, and says who has one of them already.
    fn take(&mut self, machine: Machine, owner: Owner<'w>) -> Option<Owner<'w>> {
        let range = owner.range;
        let of_ranges = self.ranges.iter().find(|(on, other)| *on == machine && other.range.meets(&range));
        let of_ranges = of_ranges.map(|(_, owner)| *owner);
        if range.ends_with.is_some() {
            let within = self.single.range((machine, range.first)..=(machine, range.last)).next();
            let within = within.map(|(_, owner)| *owner);
            self.ranges.push((machine, owner));
            return of_ranges.or(within);
        }
        let same = self.single.insert((machine, range.first), owner);
        let is_other = |other: &Owner<'_>| other.unit != owner.unit || other.range.setting != range.setting;
        of_ranges.or(same.filter(is_other))
    }
}

pub fn run(work: &mut Work<'_>) {
    refuse_unknown_ports(work);
    let machines = Machines::new(&work.input.environment.hosts);
    let mut taken = Taken::default();
    for claim in work.input.others.iter().flat_map(|claims| &claims.ports) {
        let owner = Owner { unit: &claim.unit, host: &claim.host, range: claim.range(), node: None };
        if let Some(machine) = machines.of(claim.host.as_str()) {
            taken.take(machine, owner);
        }
    }
    let mut found = Vec::new();
    for unit in work.units.values() {
        let Some(host) = unit.host else { continue };
        let Some(machine) = machines.of(host.name.as_str()) else { continue };
        // A port that was not written may be what a wrong setting was meant to say.
        let is_sure = |setting: &str| {
            !work.unsound.contains(&unit.id.name) || unit.entry.settings.contains_key(setting)
        };
        for range in ports(unit).into_iter().filter(|range| is_sure(range.setting)) {
            let node = unit.entry.settings.get(range.setting).unwrap_or(&unit.entry.node);
            if let Some(problem) = range.problem() {
                let message = format!("{}: {problem}", unit.id.name);
                let wrong = Diagnostic::error(codes::BAD_VALUE, message).at(work.place(node));
                let fix = format!("eos update {} --{} <a lower port>", unit.id.name, flag(range.setting));
                found.push(wrong.why(BACKWARDS).fix(fix));
                continue;
            }
            let own = Owner { unit: &unit.id, host: &host.name, range, node: Some(node) };
            let Some(other) = taken.take(machine, own) else { continue };
            let mut why = ONE_LISTENS.to_owned();
            let mut fix = another_port(&own);
            // Which of the two was written last, and is the mistake, is not known.
            if let Some(place) = other.node.and_then(|node| work.place(node)) {
                why.push_str(&format!("; {} has it in {}:{}", other.unit.name, place.file, place.line));
                fix.push_str(&format!(", or {}", another_port(&other)));
            }
            found.push(
                Diagnostic::error(codes::PORT_TAKEN, both_want(&other, &own))
                    .at(work.place(node))
                    .why(why)
                    .fix(fix),
            );
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

fn another_port(owner: &Owner<'_>) -> String {
    format!("eos update {} --{} <another port>", owner.unit.name, flag(owner.range.setting))
}

fn flag(setting: &str) -> String {
    setting.replace('_', "-")
}

fn both_want(other: &Owner<'_>, own: &Owner<'_>) -> String {
    let who = if other.unit.env == own.unit.env {
        other.unit.name.to_string()
    } else {
        format!("{} of {}", other.unit.name, other.unit.env)
    };
    let (name, range) = (&own.unit.name, own.range.described());
    let wants = match other.range == own.range || other.range.described() == range {
        true => format!("{who} and {name} both want {range}"),
        false => format!("{who} wants {} and {name} {range}", other.range.described()),
    };
    match other.host == own.host {
        true => format!("{wants} on host {}", own.host),
        false => format!("{wants} on one machine, the hosts {} and {}", other.host, own.host),
    }
}

/// Why a range cannot end before it begins.
pub const BACKWARDS: &str = "a range begins with its lowest port";

/// Replicas get ports of Nomad's choice; whoever dials a fixed one would miss them.
fn refuse_unknown_ports(work: &mut Work<'_>) {
    let mut found = Vec::new();
    for unit in work.sound().filter(|unit| unit.is_replicated()) {
        let told = |need: &eos_catalog::component::Need| {
            need.with.values().any(|value| value.to_string().contains("@{port."))
        };
        // By name, not by order: backups come after everything and dial nothing.
        let needs =
            |other: &Unit<'_>, name: &Name| other.needs.values().flatten().any(|met| met.name == *name);
        let mut dialling: Vec<&str> = work
            .units
            .values()
            .filter(|other| needs(other, &unit.id.name))
            .map(|other| other.id.name.as_str())
            .collect();
        let of_providers = unit.component.needs.iter().filter(|(_, need)| told(need));
        let of_providers = of_providers.filter_map(|(name, _)| unit.needs.get(name)).flatten();
        dialling.extend(of_providers.map(|provider| provider.name.as_str()));
        dialling.sort_unstable();
        dialling.dedup();
        if !dialling.is_empty() {
            let node = unit.entry.node.get("replicas").unwrap_or(&unit.entry.node);
            found.push(
                Diagnostic::error(
                    codes::NOT_STATELESS,
                    format!("{} cannot have replicas: {} would dial its port", unit.id.name, dialling.join(", ")),
                )
                .at(work.place(node))
                .why(
                    "each replica gets a port of Nomad's choice, which a proxy or a consumer cannot know yet",
                )
                .fix(format!(
                    "one of it: eos update {} --replicas 1; for more, another beside it: eos create {} <another name>",
                    unit.id.name, unit.entry.kind
                )),
            );
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}
