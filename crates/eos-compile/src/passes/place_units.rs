//! Each unit that touches a machine is placed on a declared host of its own environment.

use std::collections::BTreeSet;

use eos_catalog::{Component, Setting};
use eos_model::{Diagnostic, codes, nearest::nearest};

use crate::work::Work;

pub fn run(work: &mut Work<'_>) {
    let environment = work.input.environment;
    let mut found = Vec::new();
    let mut unsound = BTreeSet::new();
    for unit in work.units.values_mut() {
        let found_before = found.len();
        let needs_host = needs_host(&unit.component);
        let mut wanted: Vec<(String, &eos_yaml::Node)> = Vec::new();
        match &unit.entry.host {
            Some(host) => {
                wanted.push((host.clone(), unit.entry.node.get("host").unwrap_or(&unit.entry.node)))
            }
            None if needs_host => found.push(
                Diagnostic::error(codes::NO_HOST, format!("{} is placed on no host", unit.id.name))
                    .at(environment.place(&unit.entry.node))
                    .fix(format!("eos update {} --host <a declared host>", unit.id.name)),
            ),
            None => {}
        }
        let names_hosts = |name: &str| unit.component.settings.get(name).is_some_and(Setting::names_hosts);
        for (_, named) in unit.entry.settings.iter().filter(|(name, _)| names_hosts(name)) {
            let each = named.as_list().map_or_else(|| vec![named], |hosts| hosts.iter().collect());
            wanted.extend(each.into_iter().filter_map(|node| Some((node.as_str()?.to_owned(), node))));
        }
        for (host, node) in wanted {
            match environment.hosts.get(host.as_str()) {
                None => found.push(undeclared(work.input.environment, &host).at(environment.place(node))),
                Some(entry) if entry.environment != environment.name.as_str() => {
                    found.push(foreign(environment, entry).at(environment.place(node)));
                }
                Some(entry) => {
                    if unit.entry.host.as_deref() == Some(host.as_str()) {
                        unit.host = Some(entry);
                    }
                }
            }
        }
        if found.len() > found_before {
            unsound.insert(unit.id.name.clone());
        }
    }
    work.unsound.append(&mut unsound);
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// Whether a component has to be placed: it runs, keeps data, has states for one host, or speaks of its address.
pub fn needs_host(component: &Component) -> bool {
    let speaks_of_host = |text: &String| text.contains("@{address}") || text.contains("@{host}");
    !component.tasks.is_empty()
        || !component.storage.is_empty()
        || (!component.states.is_empty() && component.states_on.is_none())
        || component
            .outputs
            .values()
            .chain(component.offers.values().flat_map(|offer| offer.outputs.values()))
            .any(speaks_of_host)
}

/// The message about a host of another environment.
pub fn foreign(environment: &eos_pillar::Environment, host: &eos_pillar::HostEntry) -> Diagnostic {
    let message = format!("host {} belongs to {}, not to {}", host.name, host.environment, environment.name);
    Diagnostic::error(codes::FOREIGN_HOST, message)
        .why("a machine takes its pillar from one environment only")
        .fix(format!(
            "choose a host of {}, or declare one: eos create host <name> --env {}",
            environment.name, environment.name
        ))
}

/// The message about a host nobody declared.
pub fn undeclared(environment: &eos_pillar::Environment, host: &str) -> Diagnostic {
    let known = environment.hosts.keys().map(|name| name.as_str());
    let near =
        nearest(host, known).map(|near| format!("did you mean {near}? Otherwise: ")).unwrap_or_default();
    Diagnostic::error(codes::UNDECLARED_HOST, format!("host {host:?} is not declared"))
        .why("eos configures only machines that somebody declared")
        .fix(format!("{near}eos create host {host} --env {}", environment.name))
}
