//! Nothing is claimed twice that only one can have: an offer of a provider, a name in Nomad, a key in a module.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Name, UnitId, codes};

use crate::claims;
use crate::passes::emit_tofu::identifier;
use crate::scope::{self, grants};
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
    found.extend(names_in_nomad(work));
    found.extend(work.units.values().filter_map(|unit| hosts_of_one_key(work, unit)));
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

/// Nomad knows a job by its id and a service by its name, whichever environment they are of.
fn names_in_nomad(work: &Work<'_>) -> Vec<Diagnostic> {
    let others = work.input.others.iter();
    let mut jobs: Taken<'_> = others.clone().flat_map(|claims| &claims.jobs).map(owned).collect();
    let mut services: Taken<'_> = others.flat_map(|claims| &claims.services).map(owned).collect();
    let mut found = Vec::new();
    for unit in work.units.values() {
        let ids = claims::jobs(work, unit);
        let clashes: Vec<_> = ids.into_iter().filter_map(|id| taken(&mut jobs, id, unit)).collect();
        let names = claims::services(work, unit);
        let shared: Vec<_> = names.into_iter().filter_map(|name| taken(&mut services, name, unit)).collect();
        let told = |what: &str, (name, other): &(String, String)| {
            let message = format!("{other} and {} both have {what} {name}", unit.id.name);
            let told = Diagnostic::error(codes::WANTED_TWICE, message).at(work.place(&unit.entry.node));
            told.fix("give one of them another name")
        };
        let replaced = "Nomad would take one for a newer version of the other";
        found.extend(clashes.iter().map(|clash| told("a Nomad job", clash).why(replaced)));
        // Jobs of one id have the same services, too.
        let mixed =
            "whoever looks for one would find the other; '.', '-' and '_' are one in names of services";
        let shared = shared.first().filter(|_| clashes.is_empty());
        found.extend(shared.map(|clash| told("a Nomad service", clash).why(mixed)));
    }
    found
}

/// Names with those who have them.
type Taken<'w> = BTreeMap<String, &'w UnitId>;

fn owned<'w>((name, unit): (&String, &'w UnitId)) -> (String, &'w UnitId) {
    (name.clone(), unit)
}

/// Takes a name for a unit; who had it before, as one says it.
fn taken<'w>(all: &mut Taken<'w>, name: String, unit: &'w Unit<'_>) -> Option<(String, String)> {
    let other = all.insert(name.clone(), &unit.id)?;
    Some((name, said(other, &unit.id)))
}

/// A unit as one says it among those of another's environment.
pub fn said(unit: &UnitId, among: &UnitId) -> String {
    if unit.env == among.env { unit.name.to_string() } else { format!("{} of {}", unit.name, unit.env) }
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
    let mut wanted: BTreeMap<String, (&Name, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    let is_sound = |consumer: &Unit<'_>| !work.unsound.contains(&consumer.id.name);
    for (consumer, grant) in
        grants(work, provider, offer).into_iter().filter(|(consumer, _)| is_sound(consumer))
    {
        let need = grant.need;
        let Some(value) = scope::wanted(work, provider, grant, taken) else { continue };
        let (own, name) = (&consumer.id.name, &provider.id.name);
        // Names of hosts are the same in capitals.
        let Some((other, for_need)) = wanted.insert(value.to_lowercase(), (own, need)) else { continue };
        let is_setting = consumer.component.settings.contains_key(taken);
        let (message, fix) = match (other == own, is_setting) {
            (true, _) => (
                format!("{own} wants {taken} {value} from {name} for its {for_need} and for its {need}"),
                format!("let another provide one of them: --{} <another>", need.replace('_', "-")),
            ),
            (false, true) => (
                format!("{other} and {own} both want {taken} {value} from {name}"),
                format!("give {own} another: --{} <another>", taken.replace('_', "-")),
            ),
            (false, false) => (
                format!("{other} and {own} both want {taken} {value} from {name}"),
                format!("let another provide it for {own}: --{} <another>", need.replace('_', "-")),
            ),
        };
        found.push(
            Diagnostic::error(codes::WANTED_TWICE, message)
                .at(work.place(&consumer.entry.node))
                .why("only one of them would have it")
                .fix(fix),
        );
    }
    found
}
