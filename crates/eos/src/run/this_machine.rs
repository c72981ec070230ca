//! Which machine a host at a loopback address is. The pillar cannot tell: `127.0.0.1` is whatever machine a clone is on,
//! and masterless Salt must never configure an operator's laptop by surprise.
//!
//! `eos create host local` leaves a mark in `.eos/state`, which is not committed; a clone elsewhere has none.

use std::net::IpAddr;

use camino::{Utf8Path, Utf8PathBuf};
use eos_engine::Units;
use eos_model::{Diagnostic, Diagnostics, HostName, codes};
use eos_pillar::{Estate, HostEntry, files};

use crate::context::Context;

/// Says that a host is this machine.
pub fn mark(context: &Context, root: &Utf8Path, host: &HostName, address: &str) -> Result<(), Diagnostic> {
    if !is_loopback(address) {
        return Ok(());
    }
    let path = place(host);
    files::write(root, &path, format!("{}\n", context.machine_id).as_bytes())
}

/// Refuses units whose states would run on another machine than the one that was declared.
pub fn refuse_other(context: &Context, estate: &Estate, units: &[&Units]) -> Result<(), Diagnostics> {
    let tree = estate.tree()?;
    let mut found = Diagnostics::new();
    for units in units {
        let environment = tree.environment(&units.env)?;
        let used = units.units.values().filter_map(|unit| unit.manifest.host.as_ref());
        let mut hosts: Vec<&HostEntry> = used.filter_map(|host| environment.hosts.get(host)).collect();
        hosts.sort_by(|a, b| a.name.cmp(&b.name));
        hosts.dedup_by(|a, b| a.name == b.name);
        for host in
            hosts.into_iter().filter(|host| is_loopback(&host.address) && host.connection == "masterless")
        {
            let marked = fs_err::read_to_string(estate.root.join(place(&host.name))).unwrap_or_default();
            if marked.trim() != context.machine_id {
                found.push(refused(host));
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
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
