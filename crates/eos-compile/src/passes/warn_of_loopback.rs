//! Warns, once for each host, of containers that look for what runs on it on their own loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use eos_model::{Diagnostic, HostName, Name, codes};
use eos_pillar::HostEntry;

use crate::work::Work;

pub fn run(work: &mut Work<'_>) {
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
