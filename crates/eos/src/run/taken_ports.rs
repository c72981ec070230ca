//! Ports of this machine that a plan is about to take and that somebody else has. Told before the question: a job that
//! cannot listen is started over and over, and its run waits for it.
//!
//! Only the machine that eos runs on can be asked. What the estate itself has applied there is no stranger.

use std::collections::BTreeSet;

use camino::Utf8Path;
use eos_catalog::component::Protocol;
use eos_compile::Listens;
use eos_engine::{Applied, AppliedUnit, Archive, ChangeKind, Goal, RunPlan, Unit, UnitPlan, Verdict};
use eos_model::{Diagnostic, Diagnostics, Name, UnitId, codes};
use serde_json::Value as Json;

use super::flow::Wanted;
use super::listening::{self, Listener};
use super::{Runs, this_machine};
use crate::context::Context;
use crate::loaded::Loaded;

/// A warning for each port that is taken.
pub fn warnings(
    context: &Context,
    loaded: &Loaded,
    runs: &Runs,
    wanted: &Wanted<'_>,
    plan: &RunPlan,
) -> Result<Diagnostics, Diagnostics> {
    let environment = loaded.tree.with(&wanted.change).environment(&plan.env)?;
    let here: BTreeSet<&str> = environment
        .hosts
        .values()
        .filter(|host| this_machine::is_it(context, &loaded.estate, host))
        .map(|host| host.name.as_str())
        .collect();
    let applied = Applied::new(runs.records.as_ref()).units(&plan.env)?;
    let bytes = |name: &Name, unit: &AppliedUnit| -> Vec<Unit> {
        let id = UnitId { env: plan.env.clone(), name: name.clone() };
        unit.digests().filter_map(|digest| Archive::new(&runs.layout).read(&id, digest).ok()).collect()
    };
    let is_ours = |name: &Name, planned: &UnitPlan, port: u16| {
        applied.iter().any(|(other, unit)| match other == name {
            // Its own job has it, unless that is gone; a run that was cut off may have made it.
            true => {
                (unit.attempt.is_some() || !makes_its_job(planned))
                    && bytes(other, unit).iter().any(|unit| mentions(unit, port))
            }
            false => bytes(other, unit).iter().any(|unit| reserved(unit).contains(&port)),
        })
    };
    let begins = |name: &Name, planned: &UnitPlan| {
        let is_here = planned.host.as_deref().is_some_and(|host| here.contains(host));
        is_here && planned.is_work() && planned.goal == Goal::Present && !wanted.adopt.contains_key(name)
    };
    let listens = &wanted.compiled.listens;
    let beginning = plan.units.iter().filter(|(name, planned)| begins(name, planned));
    let wants: Vec<(&Name, &UnitPlan, &Listens)> = beginning
        .flat_map(|(name, planned)| {
            listens.get(name).into_iter().flatten().map(move |one| (name, planned, one))
        })
        .collect();
    let named: Vec<(Protocol, u16)> = wants.iter().map(|(_, _, one)| (one.protocol, one.port)).collect();
    let everybody = if named.is_empty() { Vec::new() } else { listening::everybody(&named) };
    let of_estate = listens.values().flatten().map(|one| one.port);
    let taken = everybody.iter().map(|other| other.port).chain(of_estate).collect();
    let mut found = Diagnostics::new();
    for (name, planned, one) in wants {
        let has_it = |other: &&Listener| (other.protocol, other.port) == (one.protocol, one.port);
        if let Some(other) = everybody.iter().find(has_it)
            && !is_ours(name, planned, one.port)
        {
            found.push(warning(name, one, other, free_above(one.port, &taken)));
        }
    }
    Ok(found)
}

fn warning(name: &Name, one: &Listens, other: &Listener, free: u16) -> Diagnostic {
    let (port, flag) = (one.port, one.setting.replace('_', "-"));
    let message = format!("port {port} of this machine is taken by {other}, and {name} is to listen there");
    Diagnostic::warning(codes::PORT_TAKEN, message)
        .why("what has it is nothing that eos applied; two programs cannot have one port, and the second does not start")
        .fix(format!("stop the other one, or take another port: eos update {name} --{flag} {free}"))
}

/// Whether a unit's job is not there and would be made.
fn makes_its_job(planned: &UnitPlan) -> bool {
    let is_job = |address: &str| address.starts_with("eos_nomad_job.");
    let made = planned.changes().iter().any(|one| one.kind == ChangeKind::Create && is_job(&one.address));
    let may_be_made = match &planned.verdict {
        Verdict::Envelope { creates, .. } => creates.iter().any(|address| is_job(address)),
        _ => false,
    };
    made || may_be_made
}

/// Whether a number stands anywhere in a unit's bytes: a port that its configuration names is its own.
fn mentions(unit: &Unit, port: u16) -> bool {
    let port = port.to_string();
    let has = |text: &str| {
        text.match_indices(&port).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + port.len()..]);
            !before.ends_with(|c: char| c.is_ascii_digit())
                && !after.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    unit.files.values().any(|bytes| has(&String::from_utf8_lossy(bytes)))
}

/// The ports that a unit's jobs have Nomad hold for them.
fn reserved(unit: &Unit) -> BTreeSet<u16> {
    let jobs = unit.files.iter().filter(|(path, _)| path.starts_with(Utf8Path::new("jobs")));
    let list = |value: &Json, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut found = BTreeSet::new();
    for (_, bytes) in jobs {
        let document: Json = serde_json::from_slice(bytes).unwrap_or_default();
        let networks =
            list(&document["Job"], "TaskGroups").into_iter().flat_map(|group| list(&group, "Networks"));
        let ports = networks.flat_map(|network| list(&network, "ReservedPorts"));
        found.extend(ports.filter_map(|port| u16::try_from(port["Value"].as_u64()?).ok()));
    }
    found
}

/// The next number that nobody has.
fn free_above(port: u16, taken: &BTreeSet<u16>) -> u16 {
    (port..u16::MAX).skip(1).find(|port| !taken.contains(port)).unwrap_or(port)
}
