//! What is in the way of a plan: runs that stopped half-way, others at work, names that mean nothing.

use eos_engine::{Applied, Engine, RunPlan, Units, guard, problems};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};

use super::flow::Wanted;
use super::{Runs, undoing};
use crate::commands::locks;
use crate::commands::status::purge_of_asked_for;
use crate::loaded::Loaded;

/// Runs that stopped half-way, for whoever plans something else meanwhile; and whether one of them is in its way.
pub fn unfinished(loaded: &Loaded, runs: &Runs, plan: &RunPlan) -> Result<(Diagnostics, bool), Diagnostics> {
    let (known, _) = eos_engine::runs::open(&runs.layout)?;
    let applied = Applied::new(runs.records.as_ref()).units(&plan.env)?;
    let (mut found, mut blocked) = (Diagnostics::new(), false);
    for known in known.iter().filter(|known| known.run.begun.env == plan.env && !known.in_progress) {
        let (run, command) = (&known.run.begun.run, &known.run.begun.command);
        let is_work = |name: &Name| plan.units.get(name).is_some_and(|unit| unit.is_work());
        let in_the_way = eos_engine::runs::is_in_the_way(&known.run, is_work);
        let then = if in_the_way {
            "until then eos apply is refused"
        } else {
            "applying what is planned here leaves it behind"
        };
        found.push(
            Diagnostic::warning(codes::RUN_UNFINISHED, format!("run {run} is unfinished: {command}")).fix(
                format!(
                    "{}; {then}",
                    loaded.hint(&known.run.begun.env, &undoing::ways_on(loaded, &known.run, &applied))
                ),
            ),
        );
        blocked |= in_the_way;
    }
    Ok((found, blocked))
}

/// A name behind --destroy-data that means nothing is a mistake, and one that a person should hear of.
pub fn refuse_unknown_data(
    engine: &Engine<'_>,
    loaded: &Loaded,
    wanted: &Wanted<'_>,
    units: &Units,
) -> Result<(), Diagnostics> {
    if wanted.destroy_data.is_empty() {
        return Ok(());
    }
    let env = wanted.env;
    let (there, kept) = (engine.applied().units(env)?, engine.applied().kept(env)?);
    let mut found = Diagnostics::new();
    // A pillar that cannot be read is told of when it is compiled.
    let asked_for = loaded.environment(env).map(|now| now.components).unwrap_or_default();
    let known = |name: &Name| units.units.contains_key(name) || there.contains_key(name);
    for name in wanted.destroy_data.iter().filter(|name| !known(name)) {
        let problem = |message: String| Diagnostic::error(codes::UNKNOWN_NAME, message);
        found.push(if kept.contains_key(name) {
            problem(format!("{name} is gone from {env}; its data was kept and is out of tofu's reach"))
                .why("only what tofu manages can be destroyed by it")
                .fix(match asked_for.contains_key(name) {
                    true => format!("without --destroy-data: {}", purge_of_asked_for(name)),
                    false => {
                        format!("eos purge {name} takes it back into tofu's hands and destroys it for good")
                    }
                })
        } else {
            problem(format!("there is no unit {name} in {env} whose data could be destroyed"))
                .fix("eos status shows what there is")
        });
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Tofu knows only which machine locked a state; where a run of eos did it, its lease says who, for what and since when. One that
/// was killed has no lease any more: its own journal tells.
pub fn with_owners(runs: &Runs, env: &EnvName, mut found: Diagnostics) -> Diagnostics {
    let held = runs.leases.list().unwrap_or_default();
    let (open, _) = eos_engine::runs::open(&runs.layout).unwrap_or_default();
    let cut_off = |unit: &str| {
        let mut left = open.iter().filter(|known| known.run.begun.env == *env && !known.in_progress);
        left.find(|known| known.run.half_done().any(|(name, _)| name.as_str() == unit))
    };
    // A resource that was cut off half-way is to be replaced in tofu's eyes; the run that goes on finishes it in place.
    for problem in found.0.iter_mut().filter(|problem| problem.code == codes::DATA_AT_RISK) {
        let unit = problem.message.split(':').next().unwrap_or_default();
        if let Some(known) = cut_off(unit) {
            let run = &known.run.begun.run;
            *problem =
                Diagnostic::error(codes::RUN_UNFINISHED, format!("{unit} was left half-done by run {run}"))
                    .why(std::mem::take(&mut problem.message))
                    .fix("eos resume goes on with it, eos undo takes it back");
        }
    }
    for problem in found.0.iter_mut().filter(|problem| problem.code == codes::STATE_LOCKED) {
        let unit = problem.message.split(':').next().unwrap_or_default();
        let key = format!("{env}/{unit}");
        if let Some(status) = held.iter().find(|status| !status.stale && status.key == key) {
            *problem = problems::held(status);
        } else if let Some(known) = cut_off(unit) {
            let run = &known.run.begun.run;
            problem.why = Some(format!("run {run} left {unit} half-done: the lock may be that of its tofu"));
            problem.fix = Some("eos resume goes on, and takes away a lock that is the run's own".to_owned());
        }
    }
    found
}

/// What may have happened while a person read the plan: others applied, or are at it now. Judged before anything is
/// recorded; the leases of the run itself decide what happens after.
pub fn refuse_overtaken(loaded: &Loaded, runs: &Runs, plan: &RunPlan) -> Result<(), Diagnostics> {
    let head = loaded.estate.commit_id().unwrap_or_default();
    let last = Applied::new(runs.records.as_ref()).environment(&plan.env)?;
    guard::refuse_stale(&plan.env, last.as_ref(), &head, |older| loaded.estate.git.ancestry(&head, older))?;
    let held = runs.leases.list().map_err(locks::unusable)?;
    let work = |key: &str| {
        plan.units.iter().any(|(name, unit)| unit.is_work() && key == format!("{}/{name}", plan.env))
    };
    match held.iter().find(|status| !status.stale && work(&status.key)) {
        Some(status) => Err(problems::held(status).into()),
        None => Ok(()),
    }
}
