//! What a change is not about: things recorded earlier that nobody has applied. They may be a colleague's, or may not even be
//! possible to plan; whoever changes something else is not kept from it, and does not carry them out unasked.

use std::collections::{BTreeMap, BTreeSet};

use eos_engine::{AppliedUnit, Units};
use eos_model::Name;

/// Units that are asked for otherwise than they are applied, and are neither changed, nor stand on what is, nor are needed by
/// it. `named` are those that the command itself speaks of.
pub fn from(
    before: &Units,
    after: &Units,
    applied: &BTreeMap<Name, AppliedUnit>,
    named: &BTreeSet<Name>,
) -> BTreeSet<Name> {
    let digest = |units: &Units, name: &Name| units.units.get(name).map(|unit| unit.digest.clone());
    let is_pending = |name: &Name| {
        let is = applied.get(name);
        is.is_some_and(|is| is.attempt.is_some())
            || is.and_then(|is| is.digest.clone()) != digest(after, name)
    };
    let all: BTreeSet<&Name> =
        before.units.keys().chain(after.units.keys()).chain(applied.keys()).chain(named).collect();
    let needs = |name: &Name| -> BTreeSet<&Name> {
        let asked = after.units.get(name).map(|unit| unit.manifest.needs.as_slice()).unwrap_or_default();
        let had = applied.get(name).map(|unit| unit.needs.as_slice()).unwrap_or_default();
        asked.iter().chain(had).collect()
    };
    let is_changed = |name: &Name| named.contains(name) || digest(before, name) != digest(after, name);
    let mut part: BTreeSet<&Name> = all.iter().copied().filter(|name| is_changed(name)).collect();
    grow(&mut part, |part| {
        all.iter().copied().filter(|name| needs(name).iter().any(|need| part.contains(need))).collect()
    });
    let is_there = |name: &Name| applied.get(name).is_some_and(|unit| unit.digest.is_some());
    grow(&mut part, |part| part.iter().flat_map(|name| needs(name)).filter(|need| !is_there(need)).collect());
    all.into_iter().filter(|name| is_pending(name) && !part.contains(name)).cloned().collect()
}

/// Adds what belongs to it until nothing more does.
fn grow<'n>(part: &mut BTreeSet<&'n Name>, more: impl Fn(&BTreeSet<&'n Name>) -> Vec<&'n Name>) {
    loop {
        let found = more(part);
        let before = part.len();
        part.extend(found);
        if part.len() == before {
            return;
        }
    }
}
