//! No two tasks on one host listen on the same port.

use std::collections::BTreeMap;

use eos_catalog::component::Protocol;
use eos_catalog::{Component, SettingType};
use eos_model::{Diagnostic, HostName, Name, codes};

use crate::work::{Unit, Work};

/// The settings of a component that name a port of its host. In a container only published ports are the host's; as a
/// host process, or where eos merely knows of it, every port is.
pub fn port_settings<'c>(component: &'c Component, runtime: Option<&str>) -> Vec<(&'c str, Protocol)> {
    let ports = component.tasks.values().flat_map(|task| task.ports.values());
    let mut found: Vec<(&str, Protocol)> = ports.map(|port| (port.setting.as_str(), port.protocol)).collect();
    if runtime != Some("container") {
        for (name, _) in component.settings.iter().filter(|(_, setting)| setting.kind == SettingType::Port) {
            if !found.iter().any(|(known, _)| known == name) {
                found.push((name, Protocol::Tcp));
            }
        }
    }
    found
}

/// The host ports of a unit: setting, number and protocol.
pub fn ports<'u>(unit: &'u Unit<'_>) -> Vec<(&'u str, i64, Protocol)> {
    // Replicas get ports of Nomad's choice.
    if unit.is_replicated() {
        return Vec::new();
    }
    let number = |setting: &str| unit.settings.get(setting).and_then(|setting| setting.value.as_i64());
    port_settings(&unit.component, unit.runtime())
        .into_iter()
        .filter_map(|(setting, protocol)| Some((setting, number(setting)?, protocol)))
        .collect()
}

pub fn run(work: &mut Work<'_>) {
    refuse_unknown_ports(work);
    let mut taken: BTreeMap<(&HostName, i64, Protocol), (&Unit<'_>, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    for unit in work.units.values() {
        let Some(host) = unit.host else { continue };
        for (setting, number, protocol) in ports(unit) {
            let Some((other, other_setting)) = taken.insert((&host.name, number, protocol), (unit, setting))
            else {
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
    for unit in work.units.values().filter(|unit| unit.is_replicated()) {
        let told = |need: &eos_catalog::component::Need| {
            need.with.values().any(|value| value.to_string().contains("@{port."))
        };
        // By name, not by order: backups come after everything and dial nothing.
        let needs =
            |other: &Unit<'_>, name: &Name| other.needs.values().flatten().any(|met| met.name == *name);
        let dialled = unit.component.needs.values().any(told)
            || work.units.values().any(|other| needs(other, &unit.id.name));
        if dialled {
            let node = unit.entry.node.get("replicas").unwrap_or(&unit.entry.node);
            found.push(
                Diagnostic::error(
                    codes::NOT_STATELESS,
                    format!("{} cannot have replicas: others dial its port", unit.id.name),
                )
                .at(work.place(node))
                .why(
                    "each replica gets a port of Nomad's choice, which a proxy or a consumer cannot know yet",
                )
                .fix(format!("eos update {} --replicas 1", unit.id.name)),
            );
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}
