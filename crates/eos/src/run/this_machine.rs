//! Which machine a host at a loopback address is. The pillar cannot tell: `127.0.0.1` is whatever machine a clone is on,
//! and masterless Salt must never configure an operator's laptop by surprise.
//!
//! `eos create host local` leaves a mark in `.eos/state`, which is not committed; a clone elsewhere has none.

use std::collections::BTreeSet;
use std::net::IpAddr;

use camino::{Utf8Path, Utf8PathBuf};
use eos_engine::{RunPlan, Unit, UnitPlan, Units};
use eos_model::{Diagnostic, Diagnostics, HostName, Name, codes};
use eos_pillar::{ComponentEntry, Environment, Estate, HostEntry, files};
use serde_json::Value as Json;

use super::surroundings;
use crate::context::Context;

/// Says that a host is this machine.
pub fn mark(context: &Context, root: &Utf8Path, host: &HostName, address: &str) -> Result<(), Diagnostic> {
    if !is_loopback(address) {
        return Ok(());
    }
    let path = place(host);
    files::write(root, &path, format!("{}\n", context.machine_id).as_bytes())
}

/// Says at once what a plan would say much later: only the machine itself can be configured without a master.
pub fn warn_of_other(host: &HostName, address: &str) -> Option<Diagnostic> {
    (!eos_provider::is_this_machine(address)).then(|| {
        Diagnostic::warning(codes::NOT_THIS_MACHINE, format!("{address} is no address of this machine"))
            .why(format!("{host} is masterless: eos configures it only when it runs there"))
            .fix(format!("run eos there, or eos update host {host} --connection minion, or --address with one of this machine's"))
    })
}

/// Refuses units whose states would run on another machine than the one that was declared.
pub fn refuse_other(context: &Context, estate: &Estate, units: &[&Units]) -> Result<(), Diagnostics> {
    let tree = estate.tree()?;
    let mut found = Diagnostics::new();
    for units in units {
        let environment = tree.environment(&units.env)?;
        // Not the unit's own host: one that is on several, and the unit of operations, have none.
        let used: BTreeSet<String> = units.units.values().flat_map(targets).collect();
        let hosts = environment.hosts.values().filter(|host| used.contains(host.name.as_str()));
        for host in hosts.filter(|host| is_loopback(&host.address) && host.connection == "masterless") {
            if !is_marked(context, estate, host) {
                found.push(refused(host));
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Says before the question what Salt would say in the middle of a run: an ordinary user makes no accounts, packages and
/// folders of the system.
pub fn warn_of_ordinary_user(context: &Context, plan: &RunPlan, units: &Units) -> Option<Diagnostic> {
    let set_up = |(name, planned): (&Name, &UnitPlan)| {
        let unit =
            units.units.get(name).filter(|unit| planned.is_work() && surroundings::needs_salt(unit))?;
        targets(unit).into_iter().next()
    };
    let host = plan.units.iter().find_map(set_up)?;
    (!rustix::process::geteuid().is_root()).then(|| {
        Diagnostic::warning(
            codes::SALT,
            format!("Salt sets up this machine as {}, who is not root", context.user),
        )
        .why("packages, accounts and folders such as /srv/eos are root's to make: such states fail")
        .fix(format!(
            "run eos as root; or keep to folders of your own: eos update host {host} --data-folder <folder>"
        ))
    })
}

/// Whether something of an environment is on this machine.
pub fn has(context: &Context, estate: &Estate, environment: &Environment, entry: &ComponentEntry) -> bool {
    let host = entry.host.as_deref().and_then(|host| environment.hosts.get(host));
    host.is_some_and(|host| is_it(context, estate, host))
}

/// Whether a host is the machine that eos runs on, as far as that can be told without asking anybody.
pub fn is_it(context: &Context, estate: &Estate, host: &HostEntry) -> bool {
    match is_loopback(&host.address) {
        true => is_marked(context, estate, host),
        false => host.address.parse::<IpAddr>().is_ok() && eos_provider::is_this_machine(&host.address),
    }
}

fn is_marked(context: &Context, estate: &Estate, host: &HostEntry) -> bool {
    let marked = fs_err::read_to_string(estate.root.join(place(&host.name))).unwrap_or_default();
    marked.trim() == context.machine_id
}

/// The hosts that a unit's states are for.
pub fn targets(unit: &Unit) -> Vec<String> {
    let main = unit.main();
    let states = main.pointer("/resource/eos_salt_state").and_then(Json::as_object);
    let target = |state: &Json| state["target"].as_str().map(str::to_owned);
    states.into_iter().flat_map(|states| states.values()).filter_map(target).collect()
}

fn refused(host: &HostEntry) -> Diagnostic {
    Diagnostic::error(
        codes::NOT_THIS_MACHINE,
        format!("host {} is at {}, and was not declared on this machine", host.name, host.address),
    )
    .why("masterless Salt configures the machine it runs on: here that would be the one you are at")
    .fix(format!("run eos on the machine that {0} is; if this is it, say so: eos update host {0}", host.name))
}

fn place(host: &HostName) -> Utf8PathBuf {
    Utf8PathBuf::from(format!(".eos/state/machines/{host}"))
}

fn is_loopback(address: &str) -> bool {
    address == "localhost" || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
