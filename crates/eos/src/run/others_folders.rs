//! Folders of this machine that a plan is about to give to something new and that have files already: of another estate,
//! most likely, whose names have the same folders. It would serve their data under its own password, and destroy it later.
//!
//! Only the machine that eos runs on can be looked at. What this estate applied or kept is its own.

use eos_engine::{Applied, Goal, RunPlan, UnitPlan};
use eos_model::{Diagnostic, Diagnostics, Name, codes};
use eos_pillar::ComponentEntry;
use eos_pillar::entry::Backing;

use super::flow::Wanted;
use super::{Runs, this_machine};
use crate::context::Context;
use crate::loaded::Loaded;

pub fn refuse(
    context: &Context,
    loaded: &Loaded,
    runs: &Runs,
    wanted: &Wanted<'_>,
    plan: &RunPlan,
) -> Result<(), Diagnostics> {
    let environment = loaded.tree.with(&wanted.change).environment(&plan.env)?;
    let applied = Applied::new(runs.records.as_ref());
    let (units, kept) = (applied.units(&plan.env)?, applied.kept(&plan.env)?);
    let begins = |name: &Name, planned: &UnitPlan| {
        let is_known = units.contains_key(name) || kept.contains_key(name);
        planned.is_work() && planned.goal == Goal::Present && !is_known
    };
    let is_here = |entry: &&ComponentEntry| this_machine::has(context, &loaded.estate, &environment, entry);
    let mut found = Diagnostics::new();
    for (name, _) in plan.units.iter().filter(|(name, planned)| begins(name, planned)) {
        let Some(entry) = environment.components.get(name).filter(is_here) else { continue };
        let folders = entry.volumes.values().filter(|volume| volume.backing == Backing::Directory);
        found.0.extend(folders.filter(|volume| has_files(&volume.path)).map(|v| refusal(name, &v.path)));
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn has_files(folder: &str) -> bool {
    fs_err::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

fn refusal(name: &Name, folder: &str) -> Diagnostic {
    let message = format!("{folder} has files already, and {name} of this estate was never there");
    Diagnostic::error(codes::DATA_AT_RISK, message)
        .why(format!("{name} would take them for its own, and eos would destroy them with it: another estate of this machine may have the same names"))
        .fix(format!(
            "take another name; if they are nobody's, or meant for {name}: move them away, type the command once more, and bring back what is wanted"
        ))
}
