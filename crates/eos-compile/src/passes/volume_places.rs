//! A device or a folder holds one volume, whichever environment of a machine it is of: two would write over each other's
//! data, and the one inside would go with the other.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, UnitId, codes};
use eos_pillar::entry::{Backing, VolumeChoice};

use crate::machines::{Machine, Machines};
use crate::passes::check_unique::said;
use crate::passes::emit_salt::{logical_volume, volume_group};
use crate::work::{Unit, Work};

/// Where a volume is: its device, if it has one of its own, and its folder.
pub fn of(unit: &Unit<'_>, name: &str, choice: &VolumeChoice) -> Vec<String> {
    let group = volume_group(unit, choice).filter(|_| choice.backing == Backing::Lvm);
    let device = group.map(|group| format!("/dev/{group}/{}", logical_volume(unit, name)));
    device.into_iter().chain([choice.path.trim_end_matches('/').to_owned()]).collect()
}

/// What is taken: on a machine, or in a shared filesystem, which is the same one on every host of its environment.
#[derive(Default)]
struct Taken<'w>(BTreeMap<(Option<Machine>, String), &'w UnitId>);

impl<'w> Taken<'w> {
    /// Takes a place, and says who has it, or one around it or inside it, already.
    fn take(
        &mut self,
        machine: Option<Machine>,
        place: &str,
        unit: &'w UnitId,
    ) -> Option<(&'w UnitId, String)> {
        let same = self.0.get(&(machine, place.to_owned())).map(|other| (*other, place.to_owned()));
        let around = place.match_indices('/').skip(1).find_map(|(end, _)| {
            let outer = place[..end].to_owned();
            Some((*self.0.get(&(machine, outer.clone()))?, outer))
        });
        let below = format!("{place}/");
        let inside = self.0.range((machine, below.clone())..).next();
        let inside = inside.filter(|((on, inner), _)| *on == machine && inner.starts_with(&below));
        let inside = inside.map(|((_, inner), other)| (*other, inner.clone()));
        // Volumes of one unit may lie in each other: they go together.
        let of_others = |(other, _): &(&UnitId, String)| *other != unit;
        let found = same.or(around.filter(of_others)).or(inside.filter(of_others));
        self.0.insert((machine, place.to_owned()), unit);
        found
    }
}

/// The mistakes of volumes that are where others are.
pub fn used_twice(work: &Work<'_>) -> Vec<Diagnostic> {
    let machines = Machines::new(&work.input.environment.hosts);
    let mut taken = Taken::default();
    for claim in work.input.others.iter().flat_map(|claims| &claims.volumes) {
        if let Some(machine) = machines.of(claim.host.as_str()) {
            taken.take(Some(machine), &claim.place, &claim.unit);
        }
    }
    let mut found = Vec::new();
    for unit in work.units.values() {
        let machine = unit.host.and_then(|host| machines.of(host.name.as_str()));
        for (name, choice) in &unit.entry.volumes {
            for place in of(unit, name, choice) {
                // Where it would be is not known without a host.
                let here = machine.and_then(|machine| taken.take(Some(machine), &place, &unit.id));
                let shared =
                    (choice.backing == Backing::Shared).then(|| taken.take(None, &place, &unit.id)).flatten();
                let Some((other, there)) = here.or(shared) else { continue };
                let (own, other) = (&unit.id.name, said(other, &unit.id));
                let message = match there == place {
                    true => format!("{other} and {own} both keep data in {place}"),
                    false => format!("{other} keeps data in {there} and {own} in {place}"),
                };
                let why = match there == place {
                    true => "each would write over what the other has there",
                    false => "one is inside the other: whoever destroys the outer one destroys both",
                };
                found.push(
                    Diagnostic::error(codes::WANTED_TWICE, message)
                        .at(work.place(unit.entry.node.get("volumes").unwrap_or(&unit.entry.node)))
                        .why(why)
                        .fix(format!("give {own} another name or path; names that differ in '-', '_' and '.' only share a device")),
                );
            }
        }
    }
    found
}
