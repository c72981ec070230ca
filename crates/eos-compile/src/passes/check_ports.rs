//! No two tasks on one host listen on the same port.

use std::collections::BTreeMap;

use eos_catalog::component::Protocol;
use eos_catalog::{Component, SettingType};
use eos_model::{Diagnostic, HostName, Name, codes};

use crate::work::{Unit, Work};

/// Why a port is one program's.
pub const ONE_LISTENS: &str = "two programs cannot listen on one port of one host";

/// The settings of a component that name a port of its host. In a container only published ports are the host's; as a
/// host process, or where eos merely knows of it, every port is.
pub fn port_settings<'c>(component: &'c Component, runtime: Option<&str>) -> Vec<&'c str> {
    let ports = component.tasks.values().flat_map(|task| task.ports.values());
    let mut found: Vec<&str> = ports.map(|port| port.setting.as_str()).collect();
    if runtime != Some("container") {
        for (name, _) in component.settings.iter().filter(|(_, setting)| setting.kind == SettingType::Port) {
            if !found.contains(&name.as_str()) {
                found.push(name);
            }
        }
    }
    found
}

/// The host ports of a unit: setting and number. Nomad gives a number to one of its jobs, whatever the protocol.
pub fn ports<'u>(unit: &'u Unit<'_>) -> Vec<(&'u str, i64)> {
    // Replicas get ports of Nomad's choice.
    if unit.is_replicated() {
        return Vec::new();
    }
    let number = |setting: &str| unit.settings.get(setting).and_then(|setting| setting.value.as_i64());
    port_settings(&unit.component, unit.runtime())
        .into_iter()
        .filter_map(|setting| Some((setting, number(setting)?)))
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

/// The ports that what a unit starts listens on. What eos only knows of listens already.
pub fn listens(unit: &Unit<'_>) -> Vec<Listens> {
    if unit.runtime().is_none() {
        return Vec::new();
    }
    let protocol = |setting: &str| {
        let ports = unit.component.tasks.values().flat_map(|task| task.ports.values());
        ports.filter(|port| port.setting == setting).map(|port| port.protocol).next().unwrap_or_default()
    };
    let one = |(setting, number): (&str, i64)| {
        let port = u16::try_from(number).ok()?;
        Some(Listens { setting: setting.to_owned(), port, protocol: protocol(setting) })
    };
    ports(unit).into_iter().filter_map(one).collect()
}

pub fn run(work: &mut Work<'_>) {
    refuse_unknown_ports(work);
    let mut taken: BTreeMap<(&HostName, i64), (&Unit<'_>, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    for unit in work.units.values() {
        let Some(host) = unit.host else { continue };
        // A port that was not written may be what a wrong setting was meant to say.
        let is_sure = |setting: &str| {
            !work.unsound.contains(&unit.id.name) || unit.entry.settings.contains_key(setting)
        };
        for (setting, number) in ports(unit).into_iter().filter(|(setting, _)| is_sure(setting)) {
            let Some((other, other_setting)) = taken.insert((&host.name, number), (unit, setting)) else {
                continue;
            };
            if other.id == unit.id && other_setting == setting {
                continue;
            }
            let node = unit.entry.settings.get(setting).unwrap_or(&unit.entry.node);
            found.push(
                Diagnostic::error(
                    codes::PORT_TAKEN,
                    format!(
                        "{} and {} both want port {number} on host {}",
                        other.id.name, unit.id.name, host.name
                    ),
                )
                .at(work.place(node))
                .why(ONE_LISTENS)
                .fix(format!(
                    "eos update {} --{} <another port>",
                    unit.id.name,
                    setting.replace('_', "-")
                )),
            );
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

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
