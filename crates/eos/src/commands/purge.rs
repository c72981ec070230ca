//! `eos purge`: destroy for good what was kept when its name went away. Tofu gets the kept objects back, and nothing
//! else of the unit; then they are destroyed as `--destroy-data` does it. Both are runs with a journal of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_compile::intent::component_path;
use eos_engine::applied::Kept;
use eos_engine::plan::Look;
use eos_engine::{
    Applied, AppliedEnvironment, Archive, DestroyRequest, Engine, Layout, Outcome as Ending, PlanRequest,
    Report, RunOptions, Units, guard,
};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, UnitId, codes};
use eos_pillar::Change;
use serde_json::json;

use super::Call;
use super::delete::remove_secrets;
use super::status::kept_line;
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::own_file::refuse_part_left;
use crate::recording::Message;
use crate::run::{self, Runs, confirm, flow, interrupt};
use crate::views::report as view;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("name").value_name("NAME").required(true).help("Whose data goes; eos status lists it as kept"))
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Do not ask"))
        .after_help("What is there under its name still: eos delete NAME --destroy-data NAME.\n\nExamples:\n  eos purge ledger"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let started = Instant::now();
    let context = call.context;
    let loaded = Loaded::open(context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let name: Name =
        matches.get_one::<String>("name").map_or("", String::as_str).parse().map_err(Diagnostic::from)?;
    let layout = Layout::new(loaded.estate.root.clone());
    run::first::refuse_missing_state(&loaded.estate, &layout)?;
    let (records, _) = run::store(&loaded.estate, &layout)?;
    let kept = match kept(&loaded, &Applied::new(records.as_ref()), &env, &name)? {
        Some(kept) => kept,
        None => {
            // It holds the estate, which is now to be changed.
            drop(loaded);
            forget(call, &env, &name)?;
            let text = format!("Nothing of {name} was applied: it is forgotten, and its secrets are gone.\n");
            return Ok(Outcome::new(text, json!({"destroyed": {"objects": []}})));
        }
    };
    let id = UnitId { env: env.clone(), name: name.clone() };
    let digest = kept.objects.iter().find_map(|object| object.digest.clone()).ok_or_else(|| {
        Diagnostic::error(codes::ARCHIVE, format!("nothing says which bytes {name} was applied with"))
            .why("its data was kept by an older eos")
            .fix(format!("eos create <kind> {name} takes the data over again; then eos delete {name} --destroy-data {name}"))
    })?;
    let unit = Archive::new(&layout).read(&id, &digest)?.with_only(&kept)?;
    let units = Units { env: env.clone(), units: BTreeMap::from([(name.clone(), unit)]) };
    let mut text = format!(
        "{} is destroyed for good:\n",
        crate::views::plan::counted(kept.objects.len(), "kept object")
    );
    for object in &kept.objects {
        text.push_str(&kept_line("  ", &name, object, context));
    }
    context.say(&text);
    let line = Message::about(call, String::new()).line().to_owned();
    if !matches.get_flag("yes") && !confirm::ask(context, "Destroy this data?", &format!("{line} --yes"))? {
        return Ok(
            Outcome::new("Nothing was changed.\n", json!({"declined": true})).exits(exit_code::REFUSED)
        );
    }
    let runs = Runs::open(context, &loaded.estate, &[&units], &line)?;
    interrupt::watch(&runs.tools.children);
    let head = loaded.estate.commit_id().unwrap_or_default();
    let judge = |last: Option<&AppliedEnvironment>| {
        guard::refuse_stale(&env, last, &head, |older| loaded.estate.git.descends(&head, older))
    };
    let options = RunOptions { commit: &head, judge: Some(&judge), ..RunOptions::default() };
    let report = flow::watched(call, &runs, |engine| {
        let back = take_back(engine, &units, &name, &options)?;
        if back.outcome == Ending::Done { destroy(engine, &env, &name, &options) } else { Ok(back) }
    })?;
    let outputs = flow::published(&loaded, &env, &report);
    drop(loaded);
    let forgotten = if report.outcome == Ending::Done { forget(call, &env, &name) } else { Ok(()) };
    let text =
        view::text(&report, &outputs, started.elapsed().as_secs(), context.width, context.color_stdout);
    let exit = view::exit(&report);
    let document = json!({"report": view::document(&report, &outputs), "destroyed": kept});
    let outcome = Outcome::new(text, document).with_warnings(report.problems).exits(exit);
    Ok(outcome.with_warnings(forgotten.err().unwrap_or_default()))
}

/// The pillar remembers no longer where the data was, and the secrets that opened it go.
fn forget(call: &Call<'_>, env: &EnvName, name: &Name) -> Result<(), Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let environment = loaded.environment(env)?;
    let Some(kept) = environment.kept.get(name) else { return Ok(()) };
    let path = component_path(env, name);
    refuse_part_left(&loaded, &environment, &kept.node, (name.as_str(), &path))?;
    let mut change = Change::default();
    change.remove(path);
    remove_secrets(&loaded, env, name, &mut change)?;
    let message = Message::about(call, format!("purge {name} in {env}"));
    loaded.estate.commit(&change, &message.trailers(call.context, loaded.estate.git.identity()))?;
    Ok(())
}

/// The kept objects of a name that is nowhere else; none where only the pillar remembers it, since nothing was applied.
fn kept(
    loaded: &Loaded,
    applied: &Applied<'_>,
    env: &EnvName,
    name: &Name,
) -> Result<Option<Kept>, Diagnostics> {
    let compiled = loaded.compile(&loaded.tree, env)?;
    let there =
        run::units(env, &compiled.files)?.units.contains_key(name) || applied.units(env)?.contains_key(name);
    let problem = |message: String| Diagnostic::error(codes::UNKNOWN_NAME, message);
    match applied.kept(env)?.remove(name).filter(|kept| !kept.objects.is_empty()) {
        _ if there => Err(problem(format!(
            "{name} is there in {env}; only what was kept after its name went is purged"
        ))
        .fix(format!("eos delete {name} --destroy-data {name}"))
        .into()),
        Some(kept) => Ok(Some(kept)),
        None if loaded.environment(env)?.kept.contains_key(name) => Ok(None),
        None => {
            Err(problem(format!("{env} keeps no data of {name}")).fix("eos status lists what is kept").into())
        }
    }
}

/// Tofu has the kept objects again.
fn take_back(
    engine: &Engine<'_>,
    units: &Units,
    name: &Name,
    options: &RunOptions<'_>,
) -> Result<Report, Diagnostics> {
    let plan = engine.plan(&PlanRequest {
        units,
        commit: options.commit,
        only: Some(&BTreeSet::from([name.clone()])),
        look: Look::Everything,
        destroy_data: &BTreeSet::new(),
        adopt: &BTreeMap::new(),
        new_state: &BTreeSet::new(),
    })?;
    engine.apply(&plan, units, options)
}

fn destroy(
    engine: &Engine<'_>,
    env: &EnvName,
    name: &Name,
    options: &RunOptions<'_>,
) -> Result<Report, Diagnostics> {
    let names = BTreeSet::from([name.clone()]);
    let request = DestroyRequest {
        env,
        commit: options.commit,
        only: Some(&names),
        destroy_data: &names,
        new_state: &BTreeSet::new(),
    };
    let plan = engine.plan_destroy(&request)?;
    engine.apply(&plan, &Units { env: env.clone(), units: BTreeMap::new() }, options)
}
