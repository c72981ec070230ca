//! Warns, once for each host, of containers that look for what runs on it on their own loopback, and of what nobody
//! outside can reach although it is there for them.

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
    let mut found: Vec<Diagnostic> = by_host
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
            .fix(other_address(host))
        })
        .collect();
    let public = work.units.values().filter(|unit| unit.component.public);
    for (unit, host) in public.filter_map(|unit| Some((unit, unit.host?))) {
        if is_loopback(&host.address) && !found.iter().any(|one| one.fix == Some(other_address(host))) {
            found.push(
                Diagnostic::warning(
                    codes::LOOPBACK,
                    format!("{} is for others and is told to be at {}", unit.id.name, host.address),
                )
                .why("only this machine reaches that address")
                .fix(other_address(host)),
            );
        }
    }
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

fn other_address(host: &HostEntry) -> String {
    format!("give the host the address others reach it by: eos update host {} --address <address>", host.name)
}

/// `a, b, c and 4 more`: every name as long as they are few.
fn listed(names: &BTreeSet<&Name>) -> String {
    const FEW: usize = 4;
    let shown: Vec<&str> = names.iter().take(FEW).map(|name| name.as_str()).collect();
    let more = names.len().saturating_sub(FEW);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
