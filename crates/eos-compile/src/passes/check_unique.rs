//! Nothing is claimed twice that only one can have: an offer of a provider, the id of a Nomad job, a key in a module.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Name, UnitId, codes};

use crate::claims;
use crate::passes::emit_tofu::identifier;
use crate::render;
use crate::scope::{Scope, grants};
use crate::work::{Unit, Work};

pub fn run(work: &mut Work<'_>) {
    let mut found = Vec::new();
    for provider in work.sound() {
        for (offer, spec) in provider.component.offers.iter().filter(|(_, spec)| !spec.unique.is_empty()) {
            for taken in &spec.unique {
                found.extend(wanted_twice(work, provider, offer, taken));
            }
        }
    }
    found.extend(jobs_of_one_id(work));
    found.extend(work.units.values().filter_map(|unit| hosts_of_one_key(work, unit)));
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// Nomad knows a job by its id: a second one of that id, of this environment or of another, would replace the first.
fn jobs_of_one_id(work: &Work<'_>) -> Vec<Diagnostic> {
    let others = work.input.others.iter().flat_map(|claims| &claims.jobs);
    let mut taken: BTreeMap<String, &UnitId> = others.map(|(id, unit)| (id.clone(), unit)).collect();
    let mut found = Vec::new();
    for unit in work.units.values() {
        for id in claims::jobs(work, unit) {
            let Some(other) = taken.insert(id.clone(), &unit.id) else { continue };
            let other = match other.env == unit.id.env {
                true => other.name.to_string(),
                false => format!("{} of {}", other.name, other.env),
            };
            found.push(
                Diagnostic::error(
                    codes::WANTED_TWICE,
                    format!("{other} and {} both have a Nomad job {id}", unit.id.name),
                )
                .at(work.place(&unit.entry.node))
                .why("Nomad would take one for a newer version of the other")
                .fix("give one of them another name"),
            );
        }
    }
    found
}

/// In a module the states of several hosts are told apart by a key that knows only letters, digits and `_`.
fn hosts_of_one_key(work: &Work<'_>, unit: &Unit<'_>) -> Option<Diagnostic> {
    let hosts = unit.state_hosts();
    let mut keys: BTreeMap<String, &str> = BTreeMap::new();
    let (one, other) =
        hosts.iter().find_map(|host| Some((keys.insert(identifier(host), host)?, host.as_str())))?;
    Some(
        Diagnostic::error(
            codes::WANTED_TWICE,
            format!("{} cannot tell the hosts {one} and {other} apart", unit.id.name),
        )
        .at(work.place(&unit.entry.node))
        .why("their names differ in '-', '_' or '.' only, and OpenTofu's keys have '_' for each of them; or one is named twice")
        .fix("give one of the hosts another name"),
    )
}

fn wanted_twice(work: &Work<'_>, provider: &Unit<'_>, offer: &str, taken: &str) -> Vec<Diagnostic> {
    let mut wanted: BTreeMap<String, &Name> = BTreeMap::new();
    let mut found = Vec::new();
    let is_sound = |consumer: &Unit<'_>| !work.unsound.contains(&consumer.id.name);
    for (consumer, grant) in
        grants(work, provider, offer).into_iter().filter(|(consumer, _)| is_sound(consumer))
    {
        let scope = Scope::of_grant(work, provider, None, grant, 0);
        // What cannot be rendered is told of by the pass that emits it.
        let Ok(rendered) = render::text(&scope, &format!("@{{with.{taken}}}")) else { continue };
        let Some(value) = rendered.typed.as_ref().and_then(|value| value.as_str()) else { continue };
        let Some(other) = wanted.insert(value.to_owned(), &consumer.id.name) else { continue };
        let (own, name) = (&consumer.id.name, &provider.id.name);
        found.push(
            Diagnostic::error(
                codes::WANTED_TWICE,
                format!("{other} and {own} both want {taken} {value} from {name}"),
            )
            .at(work.place(&consumer.entry.node))
            .why("only one of them would be reached")
            .fix(format!("give {own} another: --{} <another>", taken.replace('_', "-"))),
        );
    }
    found
}
