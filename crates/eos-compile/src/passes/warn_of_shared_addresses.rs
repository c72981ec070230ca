//! Warns of hosts that have one address: ports are handed out host by host.

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
