//! Warns of a size that a task is told to hold in memory and that is above the memory it gets. Only of what somebody chose:
//! what the catalogue says of both is its own to get right.

use eos_model::{Diagnostic, Size, codes};

use crate::passes::nomad_task::{tier, usual_size};
use crate::work::{Unit, Work};

const MIB: u64 = 1 << 20;

pub fn run(work: &mut Work<'_>) {
    let found: Vec<Diagnostic> = work.sound().flat_map(|unit| too_large(work, unit)).collect();
    found.into_iter().for_each(|diagnostic| work.push(diagnostic));
}

fn too_large(work: &Work<'_>, unit: &Unit<'_>) -> Vec<Diagnostic> {
    let (name, entry) = (&unit.id.name, unit.entry);
    let mut found = Vec::new();
    for (setting, schema) in &unit.component.settings {
        let task = schema.held_by.as_ref().and_then(|task| unit.component.tasks.get(task));
        let said = entry.settings.get(setting);
        let Some(task) = task.filter(|_| said.is_some() || entry.memory.is_some()) else { continue };
        let value = unit.settings.get(setting).and_then(|setting| setting.value.as_str());
        let Some(size) = value.and_then(|value| value.parse::<Size>().ok()) else { continue };
        let usual = i64::from(usual_size(tier(work, unit), task).memory);
        let memory = u64::try_from(entry.memory.unwrap_or(usual)).unwrap_or_default();
        if size.0 <= memory * MIB {
            continue;
        }
        let message = format!("{name} is to hold {size} in memory ({setting}) and gets {memory} MiB");
        let flag = setting.replace('_', "-");
        // A quarter more, for the program itself.
        let enough = (size.0 + size.0 / 4).div_ceil(MIB);
        found.push(
            Diagnostic::warning(codes::LITTLE_MEMORY, message)
                .at(work.place(said.unwrap_or(&entry.node)))
                .why("a container is ended when it takes more than it gets, and a program of the host takes it from others")
                .fix(format!("eos update {name} --memory {enough}; or a smaller --{flag}")),
        );
    }
    found
}
