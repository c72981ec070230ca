//! From a change of the pillar to what runs: plan it uncommitted, show it, ask, record it, carry it out.
//!
//! The estate is not locked while a person decides and while tofu works: leases order runs, and the change is recorded
//! only when the estate is still what was planned on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use clap::ArgMatches;
use eos_compile::Compiled;
use eos_compile::intent::Planned;
use eos_engine::plan::Look;
use eos_engine::{
    Applied, AppliedEnvironment, Engine, OnFailure, Outcome as Ending, PlanRequest, Report, RunId,
    RunOptions, RunPlan, Units, guard,
};
use eos_model::{Diagnostics, EnvName, Name};
use eos_pillar::Change;
use serde_json::json;

use super::ended::{Ended, outcome};
use super::in_the_way::{refuse_overtaken, refuse_unknown_data, unfinished, with_owners};
use super::progress::Bars;
use super::shown::Shown;
use super::{
    Runs, apart, archived, changed_settings, closed_folder, confirm, first, interrupt, operations,
    others_folders, taken_ports, undoing,
};
use crate::args::running;
use crate::build_folder;
use crate::commands::Call;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{
    Message, Prepared, Recorded, only_build_is_behind, only_commands_that_work, secrets_text,
};
use crate::views::plan as view;
use crate::views::wrap::below;

/// What is to be carried out.
pub struct Wanted<'a> {
    pub env: &'a EnvName,
    pub compiled: &'a Compiled,
    /// What is recorded when the person agrees; empty for `eos apply`.
    pub change: Change,
    pub message: Message,
    /// What was chosen on the way, said above the plan.
    pub notes: Vec<String>,
    /// What was noticed on the way, said below it: a person decides by it.
    pub warnings: Diagnostics,
    /// Only these units; all when none.
    pub only: BTreeSet<Name>,
    /// What was compiled before the change, where nothing but the change is to be carried out.
    pub before: Option<Units>,
    /// Recorded earlier and no part of this.
    pub leave: BTreeSet<Name>,
    pub destroy_data: BTreeSet<Name>,
    pub new_state: BTreeSet<Name>,
    /// What is asked for, where a command makes it.
    pub planned: Option<&'a Planned>,
    /// Jobs that run already and are taken over.
    pub adopt: BTreeMap<Name, BTreeMap<String, String>>,
    pub look: Look,
    pub on_failure: OnFailure,
    pub yes: bool,
    /// Asks although there may be nothing to apply: the change takes away what no plan shows.
    pub ask_anyway: bool,
    pub looked_after: bool,
}

impl<'a> Wanted<'a> {
    pub fn new(
        env: &'a EnvName,
        compiled: &'a Compiled,
        change: Change,
        message: Message,
        matches: &ArgMatches,
    ) -> Result<Wanted<'a>, Diagnostics> {
        Ok(Wanted {
            env,
            compiled,
            change,
            message,
            notes: Vec::new(),
            warnings: Diagnostics::new(),
            only: running::names(matches, "only")?,
            before: None,
            leave: BTreeSet::new(),
            destroy_data: running::names(matches, "destroy-data")?,
            new_state: running::names(matches, "new-state")?,
            planned: None,
            adopt: BTreeMap::new(),
            look: if running::refreshes(matches) { Look::Everything } else { Look::Nothing },
            on_failure: running::on_failure(matches),
            yes: running::is_set(matches, "yes"),
            ask_anyway: false,
            looked_after: running::is_set(matches, "looked-after"),
        })
    }
}

/// Makes an estate ready to be planned: its state is here, its key is there, nobody's work would be taken back.
pub fn make_ready(call: &Call<'_>, loaded: &mut Loaded) -> Result<(), Diagnostics> {
    let layout = eos_engine::Layout::new(loaded.estate.root.clone());
    first::refuse_missing_state(&loaded.estate, &layout)?;
    if let Some(change) = first::missing_key(&loaded.estate)? {
        let message = Message::about(call, "make the key of state and plans".to_owned());
        let trailers = message.trailers(call.context, loaded.estate.git.identity());
        loaded.estate.commit(&change, &trailers)?;
    }
    Ok(())
}

/// Plans what is compiled. The estate is let go of.
pub fn plan(
    call: &Call<'_>,
    loaded: &mut Loaded,
    runs: &Runs,
    wanted: &Wanted<'_>,
    units: &Units,
) -> Result<Shown, Diagnostics> {
    let bars = Bars::new(call.context);
    let engine = runs.engine(&bars, &eos_engine::observer::Trusting);
    let head = loaded.estate.commit_id().unwrap_or_default();
    let last = engine.applied().environment(wanted.env)?;
    guard::refuse_stale(wanted.env, last.as_ref(), &head, |older| loaded.estate.git.ancestry(&head, older))?;
    refuse_unknown_data(&engine, loaded, wanted, units)?;
    archived::complete(loaded, &runs.layout, &engine.applied(), wanted.env)?;
    let only = match wanted.leave.is_empty() {
        true => wanted.only.clone(),
        false => {
            let applied = engine.applied().units(wanted.env)?;
            let all = units.units.keys().chain(applied.keys());
            all.filter(|name| !wanted.leave.contains(*name)).cloned().collect()
        }
    };
    let planned = engine.plan(&PlanRequest {
        units,
        commit: &head,
        only: (!wanted.only.is_empty() || !wanted.leave.is_empty()).then_some(&only),
        look: wanted.look,
        destroy_data: &wanted.destroy_data,
        adopt: &wanted.adopt,
        new_state: &wanted.new_state,
    });
    bars.finish();
    let planned = planned.map_err(|found| with_owners(runs, wanted.env, found));
    let mut warnings = wanted.warnings.clone();
    warnings.extend(build_folder::warnings(&loaded.estate.root, wanted.env));
    let mut plan = planned?;
    operations::tell(&mut plan, &wanted.compiled.operations);
    if !plan.is_empty() {
        let applied = engine.applied().units(wanted.env)?;
        changed_settings::tell(&mut plan, loaded, &wanted.change, units, &applied);
    }
    let (half_way, blocked) = unfinished(loaded, runs, &plan)?;
    warnings.extend(half_way);
    let unit_of = |resource: &str| resource.split('/').nth(1).and_then(|name| name.parse::<Name>().ok());
    for (resource, server) in runs.side.unreached() {
        if let Some(unit) = unit_of(&resource).and_then(|name| plan.units.get_mut(&name)) {
            unit.unreached = Some(server);
        }
    }
    for (resource, reasons) in runs.side.unplaced() {
        let unit = unit_of(&resource).and_then(|name| plan.units.get_mut(&name));
        if let Some(unit) = unit.filter(|unit| unit.is_work()) {
            unit.unplaced.extend(reasons);
        }
    }
    others_folders::refuse(call.context, loaded, runs, wanted, &plan)?;
    let taken = taken_ports::warnings(call.context, loaded, runs, wanted, &plan)?;
    // What is not recorded yet cannot be updated.
    warnings.extend(match wanted.planned {
        Some(planned) => only_commands_that_work(taken, planned),
        None => taken,
    });
    warnings.0.extend(super::this_machine::warn_of_ordinary_user(call.context, &plan, units));
    warnings.extend(closed_folder::warnings(call.context, loaded, runs, wanted, &plan)?);
    let cost = Shown::cost_of(loaded, &plan)?;
    let left = wanted.leave.clone();
    let only_recorded = plan.units.is_empty() && !wanted.change.is_empty();
    let warnings = loaded.in_environment(wanted.env, warnings);
    Ok(Shown { plan, previews: runs.side.previews(), cost, warnings, left, blocked, only_recorded })
}

/// Plans, shows, asks, records and applies.
pub fn carry_out(
    call: &Call<'_>,
    loaded: &mut Loaded,
    mut wanted: Wanted<'_>,
) -> Result<(Ended, Shown), Diagnostics> {
    make_ready(call, loaded)?;
    let units = super::units(wanted.env, &wanted.compiled.files)?;
    loaded.estate.release();
    let runs = Runs::open(call.context, &loaded.estate, &[&units], wanted.message.line())?;
    interrupt::watch(&runs.tools.children);
    let context = call.context;
    if let Some(before) = wanted.before.as_ref().filter(|_| wanted.only.is_empty()) {
        let applied = Applied::new(runs.records.as_ref()).units(wanted.env)?;
        let named = wanted.destroy_data.iter().chain(&wanted.new_state).chain(wanted.adopt.keys());
        wanted.leave = apart::from(before, &units, &applied, &named.cloned().collect());
    }
    let shown = plan(call, loaded, &runs, &wanted, &units)?;
    for note in &wanted.notes {
        context.say(&below("", "", note, context.width, 2));
    }
    let ended = agree_and_apply(call, loaded, &runs, wanted, &units, &shown);
    Ok((ended.map_err(|found| shown.beside(context, found))?, shown))
}

/// Shows a plan, asks, records and applies it.
pub fn agree_and_apply(
    call: &Call<'_>,
    loaded: &mut Loaded,
    runs: &Runs,
    wanted: Wanted<'_>,
    units: &Units,
    shown: &Shown,
) -> Result<Ended, Diagnostics> {
    let context = call.context;
    shown.say(context, loaded);
    let work: BTreeSet<&Name> =
        shown.plan.units.iter().filter(|(_, unit)| unit.is_work()).map(|(name, _)| name).collect();
    // What would be refused later is not asked about, and not recorded.
    eos_engine::runs::refuse_half_done(&runs.layout, &shown.plan.env, &work)?;
    if !wanted.looked_after {
        let bars = Bars::new(context);
        let engine = runs.engine(&bars, &eos_engine::observer::Trusting);
        let judged = engine.refuse_left_elsewhere(&shown.plan, units);
        bars.finish();
        judged?;
    }
    let work = !work.is_empty();
    if let Some(problem) = view::unreached(&shown.plan) {
        return Err(problem.into());
    }
    if (!shown.plan.is_empty() || wanted.ask_anyway) && !wanted.yes {
        let retry = format!("{} --yes", wanted.message.retry());
        if !confirm::ask(context, "Do this?", &retry)? {
            return Ok(Ended::Declined);
        }
    }
    // Somebody said stop after tofu had planned: a yes given beforehand no longer holds.
    if runs.tools.children.is_interrupted() {
        return Ok(Ended::Declined);
    }
    let mut change = wanted.change;
    loaded.estate.take_back()?;
    refuse_overtaken(loaded, runs, &shown.plan)?;
    if work {
        first::prepare(&loaded.estate, &runs.layout, &mut change)?;
    }
    let commit = if change.is_empty() {
        None
    } else {
        let trailers = wanted.message.trailers(context, loaded.estate.git.identity());
        loaded.estate.commit(&change, &trailers)?
    };
    let made_secrets = change.files.keys().any(|path| path.starts_with(eos_secrets::FOLDER));
    let difference = build_folder::sync(&loaded.estate.root, wanted.env, &wanted.compiled.files)
        .map_err(|problem| only_build_is_behind(problem, wanted.env, commit.as_deref(), made_secrets))?;
    let recorded = Recorded { commit, difference };
    let after = loaded.estate.commit_id().unwrap_or_default();
    loaded.estate.release();
    let revert = |run: &RunId| undoing::revert(call, runs, run);
    let estate = &loaded.estate;
    let judge = |last: Option<&AppliedEnvironment>| {
        guard::refuse_stale(wanted.env, last, &after, |older| estate.git.ancestry(&after, older))
    };
    let options = RunOptions {
        commit: &after,
        on_failure: wanted.on_failure,
        before_undo: Some(&revert),
        judge: Some(&judge),
        looked_after: wanted.looked_after,
    };
    let begun = Instant::now();
    let mut report = match apply(call, runs, &shown.plan, units, &options) {
        Ok(report) => report,
        Err(found) => return Ended::not_begun(recorded, !wanted.adopt.is_empty(), found),
    };
    let took = begun.elapsed();
    if report.outcome == Ending::Undone
        && let Err(behind) = undoing::compile_again(call, wanted.env)
    {
        report.problems.extend(behind);
    }
    Ok(if work { Ended::Ran(recorded, Box::new(report), took) } else { Ended::NothingToDo(recorded) })
}

/// Carries out a plan that was agreed to.
pub fn apply(
    call: &Call<'_>,
    runs: &Runs,
    plan: &RunPlan,
    units: &Units,
    options: &RunOptions<'_>,
) -> Result<Report, Diagnostics> {
    watched(call, runs, |engine| engine.apply(plan, units, options))
}

/// Runs something of the engine's with bars, and health looked at.
pub fn watched<T>(
    call: &Call<'_>,
    runs: &Runs,
    work: impl FnOnce(&Engine<'_>) -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    let bars = Arc::new(Bars::new(call.context));
    runs.hear(&bars);
    let done = bars.during(|| work(&runs.engine(bars.as_ref(), &runs.health)));
    bars.finish();
    done
}

/// What a command that changes the estate ends in: the change is planned, agreed to, recorded and applied. Secrets
/// that were made are shown once they are recorded.
pub fn record_and_apply(
    call: &Call<'_>,
    matches: &ArgMatches,
    loaded: &mut Loaded,
    env: &EnvName,
    prepared: &Prepared,
    message: Message,
    notes: &[String],
) -> Result<Outcome, Diagnostics> {
    let wanted = Wanted::new(env, &prepared.compiled, prepared.change.clone(), message, matches)?;
    record_and_apply_as(call, loaded, prepared, wanted, notes)
}

/// The same, with more said about how.
pub fn record_and_apply_as(
    call: &Call<'_>,
    loaded: &mut Loaded,
    prepared: &Prepared,
    mut wanted: Wanted<'_>,
    notes: &[String],
) -> Result<Outcome, Diagnostics> {
    let env = wanted.env;
    wanted.notes = notes.to_vec();
    wanted.look = Look::Changed;
    // Where the estate did not compile before, there is no telling what the change is about.
    let before = loaded.compile(&loaded.tree, env).and_then(|before| super::units(env, &before.files));
    wanted.before = before.ok();
    let (ended, shown) = carry_out(call, loaded, wanted)?;
    let declined = matches!(ended, Ended::Declined);
    let mut outcome = outcome(call, loaded, env, ended, &shown);
    outcome.json["notes"] = json!(notes);
    if !declined {
        outcome.text.push_str(&loaded.hint(env, &secrets_text(&prepared.made)));
        let made = prepared.made.iter().map(|(reference, secret)| (reference.to_string(), secret.expose()));
        outcome.json["secrets"] = json!(made.collect::<BTreeMap<_, _>>());
    }
    Ok(outcome)
}
