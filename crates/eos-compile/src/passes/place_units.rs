//! Each unit that touches a machine is placed on a declared host of its own environment.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use eos_catalog::Component;
use eos_model::{Diagnostic, HostName, Name, codes, nearest::nearest};
use eos_pillar::HostEntry;

use crate::work::Work;

pub fn run(work: &mut Work<'_>) {
    let environment = work.input.environment;
    let mut found = Vec::new();
    for unit in work.units.values_mut() {
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
        if let Some(nodes) = unit.entry.settings.get("nodes") {
            wanted.extend(
                nodes
                    .as_list()
                    .into_iter()
                    .flatten()
                    .filter_map(|node| Some((node.as_str()?.to_owned(), node))),
            );
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
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// Warns, once for each host, of containers that look for what runs on it on their own loopback.
pub fn warn_of_loopback(work: &mut Work<'_>) {
    let is_loopback = |address: &str| {
        address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()) || address == "localhost"
    };
    // Host → those in containers, and what they need there.
    let mut by_host: BTreeMap<&HostName, (&HostEntry, BTreeSet<&Name>, BTreeSet<&Name>)> = BTreeMap::new();
    for unit in work.units.values().filter(|unit| unit.runtime() == Some("container")) {
        for name in &unit.upstream {
            let Some(host) = work.units.get(name).and_then(|other| other.host) else { continue };
            if is_loopback(&host.address) {
                let (_, containers, needed) =
                    by_host.entry(&host.name).or_insert_with(|| (host, BTreeSet::new(), BTreeSet::new()));
                containers.insert(&unit.id.name);
                needed.insert(name);
            }
        }
    }
    let found: Vec<Diagnostic> = by_host
        .into_values()
        .map(|(host, containers, needed)| {
            let runs = if containers.len() == 1 {
                "runs in a container and needs"
            } else {
                "run in containers and need"
            };
            Diagnostic::warning(
                codes::LOOPBACK,
                format!("{} {runs} {} at {}", listed(&containers), listed(&needed), host.address),
            )
            .why("inside a container that address is the container itself")
            .fix(format!(
                "give the host the address others reach it by: eos update host {} --address <address>",
                host.name
            ))
        })
        .collect();
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// `a, b, c and 4 more`: every name as long as they are few.
fn listed(names: &BTreeSet<&Name>) -> String {
    const FEW: usize = 8;
    let shown: Vec<&str> = names.iter().take(FEW).map(|name| name.as_str()).collect();
    let more = names.len().saturating_sub(FEW);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

/// Warns of hosts that have one address: ports are handed out host by host.
pub fn warn_of_shared_addresses(work: &mut Work<'_>) {
    let environment = work.input.environment;
    let mut by_address: BTreeMap<&str, Vec<&HostEntry>> = BTreeMap::new();
    for host in environment.hosts.values() {
        by_address.entry(&host.address).or_default().push(host);
    }
    // Hosts of other environments are theirs to warn of, unless one of ours is among them.
    let ours = |host: &&HostEntry| host.environment == environment.name.as_str();
    for (address, hosts) in
        by_address.into_iter().filter(|(_, hosts)| hosts.len() > 1 && hosts.iter().any(ours))
    {
        let mut names: Vec<String> = hosts.iter().map(|host| format!("host {}", host.name)).collect();
        if let Some(more) = names.len().checked_sub(3).filter(|more| *more > 0) {
            names.truncate(3);
            names.push(format!("{more} more"));
        }
        let last = hosts.last().map_or("", |host| host.name.as_str());
        work.push(
            Diagnostic::warning(
                codes::SAME_ADDRESS,
                format!("{} have the address {address}", names.join(" and ")),
            )
            .at(hosts.last().and_then(|host| environment.place(&host.node)))
            .why("one machine under two names would be given a port twice, and be configured for both")
            .fix(format!("eos update host {last} --address <its own>, or eos delete host {last}")),
        );
    }
}

/// Whether a component has to be placed: it runs, keeps data, has states for one host, or speaks of its address.
pub fn needs_host(component: &Component) -> bool {
    let speaks_of_host = |text: &String| text.contains("@{address}") || text.contains("@{host}");
    !component.tasks.is_empty()
        || !component.storage.is_empty()
        || (!component.states.is_empty() && !component.settings.contains_key("nodes"))
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
