//! No two tasks on one host listen on the same port.

use std::collections::BTreeMap;

use eos_catalog::component::Protocol;
use eos_model::{Diagnostic, HostName, Name, codes};

use crate::work::{Unit, Work};

/// The host ports of a unit: setting, number and protocol.
pub fn ports<'u>(unit: &'u Unit<'_>) -> Vec<(&'u str, i64, Protocol)> {
    let mut found = Vec::new();
    for task in unit.component.tasks.values() {
        for port in task.ports.values() {
            if let Some(number) = unit.settings.get(&port.setting).and_then(|setting| setting.value.as_i64())
            {
                found.push((port.setting.as_str(), number, port.protocol));
            }
        }
    }
    found
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
    for unit in work.units.values().filter(|unit| unit.entry.replicas.is_some_and(|replicas| replicas > 1)) {
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
