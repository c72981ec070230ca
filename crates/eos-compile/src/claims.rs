//! What an environment takes of what it shares with the others: ports and disks of machines, names in Nomad.
//!
//! An environment is compiled by itself. What the others have taken is given to it as data, to choose around and to
//! check against; no byte that is emitted depends on it.

use std::collections::BTreeMap;

use eos_catalog::component::Task;
use eos_model::{HostName, UnitId};

use crate::passes::check_ports::{self, PortRange};
use crate::passes::{self, emit_nomad, nomad_task, volume_places};
use crate::work::{Input, Unit, Work};

/// What one environment has taken.
#[derive(Debug, Default)]
pub struct Claims {
    pub ports: Vec<PortClaim>,
    pub volumes: Vec<VolumeClaim>,
    /// Id of a Nomad job → whose it is.
    pub jobs: BTreeMap<String, UnitId>,
    /// Name of a service → whose it is.
    pub services: BTreeMap<String, UnitId>,
}

/// A device or a folder of a host that a unit keeps data in.
#[derive(Debug)]
pub struct VolumeClaim {
    pub unit: UnitId,
    pub host: HostName,
    pub place: String,
}

/// Ports of a host that a unit listens on.
#[derive(Debug)]
pub struct PortClaim {
    pub unit: UnitId,
    pub host: HostName,
    setting: String,
    first: i64,
    last: i64,
    ends_with: Option<String>,
}

impl PortClaim {
    pub fn range(&self) -> PortRange<'_> {
        let PortClaim { setting, first, last, ends_with, .. } = self;
        PortRange { setting, first: *first, last: *last, ends_with: ends_with.as_deref() }
    }
}

impl Claims {
    /// What an environment takes; of what is wrong with it, it says so itself.
    pub fn of(input: &Input<'_>) -> Claims {
        let mut work = Work::new(input);
        passes::describe(&mut work);
        let ports = work.units.values().flat_map(ports).collect();
        let volumes = work.units.values().flat_map(volumes).collect();
        let named = |names: fn(&Work<'_>, &Unit<'_>) -> Vec<String>| {
            let of_unit = |unit: &Unit<'_>| {
                names(&work, unit).into_iter().map(|name| (name, unit.id.clone())).collect::<Vec<_>>()
            };
            work.units.values().flat_map(of_unit).collect()
        };
        Claims { ports, volumes, jobs: named(jobs), services: named(services) }
    }
}

fn volumes(unit: &Unit<'_>) -> Vec<VolumeClaim> {
    let Some(host) = unit.host else { return Vec::new() };
    let claim = |place| VolumeClaim { unit: unit.id.clone(), host: host.name.clone(), place };
    let places = unit.entry.volumes.iter().flat_map(|(name, choice)| volume_places::of(unit, name, choice));
    places.map(claim).collect()
}

/// The names that a unit's tasks are registered under.
pub fn services(_: &Work<'_>, unit: &Unit<'_>) -> Vec<String> {
    let job = unit.job();
    let of_task = |(name, task): (&String, &Task)| -> Vec<String> {
        task.ports.keys().map(|label| nomad_task::service_name(&job, name, label)).collect()
    };
    unit.component.tasks.iter().flat_map(of_task).collect()
}

fn ports(unit: &Unit<'_>) -> Vec<PortClaim> {
    let Some(host) = unit.host else { return Vec::new() };
    let claim = |range: PortRange<'_>| PortClaim {
        unit: unit.id.clone(),
        host: host.name.clone(),
        setting: range.setting.to_owned(),
        first: range.first,
        last: range.last,
        ends_with: range.ends_with.map(str::to_owned),
    };
    check_ports::ports(unit).into_iter().filter(|range| range.problem().is_none()).map(claim).collect()
}

/// The ids of a unit's Nomad jobs: its own, and those that provision what it needs.
pub fn jobs(work: &Work<'_>, unit: &Unit<'_>) -> Vec<String> {
    let own = (!unit.component.tasks.is_empty()).then(|| unit.job());
    let provisions = emit_nomad::provisions(work, unit);
    own.into_iter().chain(provisions.iter().map(|provision| provision.job(unit))).collect()
}
