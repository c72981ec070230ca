//! Warns of hosts that have one address without being one machine that serves several environments.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, codes};
use eos_pillar::HostEntry;

use crate::work::Work;

pub fn run(work: &mut Work<'_>) {
    let environment = work.input.environment;
    let mut by_address: BTreeMap<&str, Vec<&HostEntry>> = BTreeMap::new();
    for host in environment.hosts.values() {
        by_address.entry(&host.address).or_default().push(host);
    }
    // Hosts of other environments are theirs to warn of, unless one of ours is among them.
    let is_ours = |host: &HostEntry| host.environment == environment.name.as_str();
    for (address, hosts) in by_address {
        let doubtful = |host: &&HostEntry| {
            let mut others = hosts.iter().filter(|other| other.name != host.name);
            others.any(|other| (is_ours(host) || is_ours(other)) && !serves_both(host, other))
        };
        let hosts: Vec<&HostEntry> = hosts.iter().copied().filter(doubtful).collect();
        let Some(last) = hosts.last() else { continue };
        let mut names: Vec<String> = hosts.iter().map(|host| format!("host {}", host.name)).collect();
        if let Some(more) = names.len().checked_sub(3).filter(|more| *more > 0) {
            names.truncate(3);
            names.push(format!("{more} more"));
        }
        work.push(
            Diagnostic::warning(
                codes::SAME_ADDRESS,
                format!("{} have the address {address}", names.join(" and ")),
            )
            .at(environment.place(last.node.get("address").unwrap_or(&last.node)))
            .why("one machine under two names carries what is meant for two, and is configured for both")
            .fix(format!("eos update host {0} --address <its own>, or eos delete host {0}", last.name)),
        );
    }
}

/// A machine that serves two environments has a name in each, and one in Nomad.
fn serves_both(one: &HostEntry, other: &HostEntry) -> bool {
    one.environment != other.environment && one.nomad_node == other.nomad_node
}
