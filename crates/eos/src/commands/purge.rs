//! `eos purge`: destroy for good what was kept when its name went away. Tofu gets the kept objects back, and nothing
//! else of the unit; then they are destroyed as `--destroy-data` does it. Both are runs with a journal of their own, and a
//! purge that was cut off in one of them, or between them, is finished by asking for it again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_compile::intent::component_path;
use eos_engine::applied::Kept;
use eos_engine::observer::{Observer, Progress};
use eos_engine::plan::Look;
use eos_engine::record::{Direction, Goal};
use eos_engine::{
    Applied, AppliedEnvironment, AppliedUnit, Archive, DestroyRequest, Engine, KeptObject, Layout,
    Outcome as Ending, PlanRequest, Report, ResumeOptions, Run, RunId, RunOptions, Units, data, guard, runs,
};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, UnitId, codes};
use eos_pillar::Change;
use serde_json::json;

use super::Call;
use super::delete::remove_secrets;
use super::status::{kept_line, purge_of_asked_for};
use crate::args::spoken;
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::own_file::refuse_part_left;
use crate::recording::Message;
use crate::run::{self, Runs, confirm, flow, interrupt};
use crate::views::report as view;
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("name").value_name("NAME").required(true).help("Whose data goes; eos status lists it as kept"))
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Do not ask"))
        .after_help("What is there under its name still: eos delete NAME --destroy-data NAME.\n\nExamples:\n  eos purge ledger"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let context = call.context;
    let loaded = Loaded::open(context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let name: Name =
        matches.get_one::<String>("name").map_or("", String::as_str).parse().map_err(Diagnostic::from)?;
    let layout = Layout::new(loaded.estate.root.clone());
    run::first::refuse_missing_state(&loaded.estate, &layout)?;
    let (records, _) = run::store(&loaded.estate, &layout)?;
    let applied = Applied::new(records.as_ref());
    run::archived::complete(&loaded, &layout, &applied, &env)?;
    let cut_off = cut_off(&layout, &env, &name)?;
    refuse_what_is_asked_for(&loaded, &applied, &env, &name)?;
    if cut_off.is_none() {
        refuse_what_runs(&layout, &applied, &env, &name)?;
    }
    let kept = match left(&layout, &applied, &env, &name)? {
        Some(kept) => kept,
        None if cut_off.is_some() => Kept::default(),
        None if loaded.environment(&env)?.kept.contains_key(&name) || has_secrets(&loaded, &env, &name)? => {
            run::still_used::refuse_unrecorded(context, &loaded, &loaded.environment(&env)?, &name)?;
            // It holds the estate, which is now to be changed.
            drop(loaded);
            let stay = forget(call, &env, &name)?;
            let gone = if stay.is_empty() { ", and its secrets are gone" } else { "" };
            let mut text = format!("Nothing of {name} is there any more: it is forgotten{gone}.\n");
            text.push_str(&notes(&stay, context.width));
            return Ok(Outcome::new(text, json!({"destroyed": {"objects": []}, "notes": stay})));
        }
        None => return Err(nothing_kept(&env, &name).into()),
    };
    let digest = kept.objects.iter().find_map(|object| object.digest.clone());
    let in_care = applied.units(&env)?.contains_key(&name) || kept.objects.is_empty();
    if digest.is_none() && !in_care {
        return Err(Diagnostic::error(
            codes::ARCHIVE,
            format!("nothing says which bytes {name} was applied with"),
        )
        .why("its data was kept by an older eos")
        .fix(format!(
            "eos create <kind> {name} takes the data over again; then eos delete {name} --destroy-data {name}"
        ))
        .into());
    }
    let mut units = Units { env: env.clone(), units: BTreeMap::new() };
    let mut let_go = None;
    if let Some(digest) = digest {
        let id = UnitId { env: env.clone(), name: name.clone() };
        let unit = Archive::new(&layout).read(&id, &digest)?;
        if !in_care {
            run::still_used::refuse_job(context, &loaded, &unit)?;
        }
        units.units.insert(name.clone(), unit.with_only(&kept)?);
        let_go = Some(unit).filter(|_| !in_care);
    }
    let mut text = match kept.objects.len() {
        0 => format!("What is left of {name} is destroyed for good.\n"),
        1 => "1 kept object is destroyed for good:\n".to_owned(),
        count => format!("{count} kept objects are destroyed for good:\n"),
    };
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
    // Without the time that a person takes to answer.
    let started = Instant::now();
    let at_work = Runs::open(context, &loaded.estate, &[&units], &line)?;
    interrupt::watch(&at_work.tools.children);
    // While the estate has the values: they are known by them.
    let secrets_left =
        let_go.map(|unit| run::secrets_left::take_away(context, &loaded, &unit)).unwrap_or_default();
    let head = loaded.estate.commit_id().unwrap_or_default();
    let judge = |last: Option<&AppliedEnvironment>| {
        guard::refuse_stale(&env, last, &head, |older| loaded.estate.git.ancestry(&head, older))
    };
    let options = RunOptions { commit: &head, judge: Some(&judge), ..RunOptions::default() };
    let report = flow::watched(call, &at_work, |engine| {
        let purging = Purging { all: engine.observer, destroying: AtomicBool::new(false) };
        let engine = &Engine { observer: &purging, ..*engine };
        let mut report = None;
        if let Some(run) = &cut_off {
            report = Some(engine.resume(run, &ResumeOptions::default())?);
        }
        if report.as_ref().is_none_or(is_done) && !in_care && !has(engine, &env, &name)? {
            report = Some(take_back(engine, &units, &name, &options)?);
        }
        // A purge that was cut off while it destroyed has no more to destroy.
        if report.as_ref().is_none_or(is_done) && has(engine, &env, &name)? {
            report = Some(destroy(engine, &env, &name, &options)?);
        }
        report.ok_or_else(|| nothing_kept(&env, &name).into())
    })?;
    let outputs = run::ended::published(&loaded, &env, &report);
    drop(loaded);
    let forgotten = if report.outcome == Ending::Done { forget(call, &env, &name) } else { Ok(Vec::new()) };
    let (stay, problems) = match forgotten {
        Ok(stay) => (stay, Diagnostics::new()),
        Err(problems) => (Vec::new(), problems),
    };
    let mut text =
        view::text(&report, &outputs, started.elapsed().as_secs(), context.width, context.color_stdout);
    text.push_str(&notes(&stay, context.width));
    let exit = view::exit(&report);
    let document = json!({"report": view::document(&report, &outputs), "destroyed": kept, "notes": stay});
    let outcome = Outcome::new(text, document).with_warnings(report.problems).exits(exit);
    Ok(outcome.with_warnings(problems).with_warnings(secrets_left))
}

/// Tells of destroying alone: that tofu is given the objects first is no news, and "applying" would frighten.
struct Purging<'a> {
    all: &'a dyn Observer,
    destroying: AtomicBool,
}

impl Observer for Purging<'_> {
    fn on(&self, progress: &Progress<'_>) {
        let tell = match progress {
            Progress::Began { .. } => false,
            Progress::Applying { goal, .. } => {
                self.destroying.store(*goal == Goal::Gone, Ordering::Relaxed);
                *goal == Goal::Gone
            }
            Progress::Verifying { .. } | Progress::Done { .. } | Progress::Tofu { .. } => {
                self.destroying.load(Ordering::Relaxed)
            }
            _ => true,
        };
        if tell {
            self.all.on(progress);
        }
    }
}

/// Notes, each in a line of its own.
fn notes(notes: &[String], width: usize) -> String {
    notes.iter().map(|note| below("", "", note, width, 2)).collect()
}

/// The pillar remembers no longer where the data was, and the secrets that opened it go. Notes say which stay all the same.
fn forget(call: &Call<'_>, env: &EnvName, name: &Name) -> Result<Vec<String>, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let environment = loaded.environment(env)?;
    let mut change = Change::default();
    // After an undo there is nothing in the pillar to forget: it asks for what it did before.
    if let Some(kept) = environment.kept.get(name) {
        let path = component_path(env, name);
        refuse_part_left(&loaded, &environment, &kept.node, (name.as_str(), &path))?;
        change.remove(path);
    }
    let stay = remove_secrets(&loaded, env, name, &BTreeSet::new(), &mut change)?;
    if change.is_empty() {
        return Ok(stay);
    }
    let message = Message::about(call, format!("purge {name} in {env}"));
    loaded.estate.commit(&change, &message.trailers(call.context, loaded.estate.git.identity()))?;
    Ok(stay)
}

/// Whether there are secrets of a name that is not asked for.
fn has_secrets(loaded: &Loaded, env: &EnvName, name: &Name) -> Result<bool, Diagnostics> {
    let is_asked_for = loaded.environment(env)?.components.contains_key(name);
    let secrets = loaded.secrets()?;
    Ok(!is_asked_for && secrets.iter().any(|reference| reference.env == *env && reference.name == *name))
}

/// Whether tofu has it in its care.
fn has(engine: &Engine<'_>, env: &EnvName, name: &Name) -> Result<bool, Diagnostic> {
    Ok(engine.applied().units(env)?.contains_key(name))
}

fn is_done(report: &Report) -> bool {
    report.outcome == Ending::Done
}

/// What is left of a name that nobody asks for: what was kept, or what is in tofu's hands, as after a purge that was cut
/// off.
fn left(
    layout: &Layout,
    applied: &Applied<'_>,
    env: &EnvName,
    name: &Name,
) -> Result<Option<Kept>, Diagnostics> {
    let kept = applied.kept(env)?.remove(name).filter(|kept| !kept.objects.is_empty());
    match (kept, applied.units(env)?.get(name)) {
        (Some(kept), _) => Ok(Some(kept)),
        (None, Some(unit)) => Ok(Some(in_care(layout, env, name, unit)?)),
        (None, None) => Ok(None),
    }
}

fn refuse_what_is_asked_for(
    loaded: &Loaded,
    applied: &Applied<'_>,
    env: &EnvName,
    name: &Name,
) -> Result<(), Diagnostics> {
    let compiled = loaded.compile(&loaded.tree, env)?;
    if !run::units(env, &compiled.files)?.units.contains_key(name) {
        return Ok(());
    }
    let problem = |message: String| Diagnostic::error(codes::UNKNOWN_NAME, message);
    // What was kept is out of tofu's hands: --destroy-data would not reach it.
    if applied.kept(env)?.contains_key(name) {
        let purge = purge_of_asked_for(name);
        let runs = applied.units(env)?.contains_key(name);
        return Err(problem(format!("{env} asks for {name}, and data of it was kept"))
            .why("only what was kept of a name that is not asked for is purged")
            .fix(match runs {
                true => format!("{purge} destroys it for good, and {name} goes with it"),
                false => format!("eos apply takes it up again; {purge} destroys it for good"),
            })
            .into());
    }
    Err(problem(format!("{name} is there in {env}; only what was kept after its name went is purged"))
        .fix(format!("eos delete {name} --destroy-data {name}"))
        .into())
}

/// What no run has taken away yet may be at work: it is for a plan to show what ends with it. What tofu has in its care by
/// a purge that came half-way is data alone.
fn refuse_what_runs(
    layout: &Layout,
    applied: &Applied<'_>,
    env: &EnvName,
    name: &Name,
) -> Result<(), Diagnostic> {
    let units = applied.units(env)?;
    let Some(unit) = units.get(name) else { return Ok(()) };
    let last = unit.attempt.as_ref().map_or(&unit.run, |attempt| &attempt.run);
    if runs::find(layout, last).is_ok_and(|known| is_purge_of(&known.run, env, name)) {
        return Ok(());
    }
    Err(Diagnostic::error(
        codes::DATA_AT_RISK,
        format!("{name} still runs in {env}; only what was kept after it went is purged"),
    )
    .why("it is no longer asked for, and no run has taken it away yet: more than its data would go")
    .fix(format!(
        "eos apply takes it away and keeps its data, for eos purge {name}; eos apply --destroy-data {name} takes both"
    )))
}

fn nothing_kept(env: &EnvName, name: &Name) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_NAME, format!("{env} keeps no data of {name}"))
        .fix("eos status lists what is kept")
}

/// The objects with data of a unit that is applied and that the pillar does not ask for, as if they were kept.
fn in_care(layout: &Layout, env: &EnvName, name: &Name, unit: &AppliedUnit) -> Result<Kept, Diagnostic> {
    let id = UnitId { env: env.clone(), name: name.clone() };
    let digest = unit.digest.as_ref().or(unit.attempt.as_ref().map(|attempt| &attempt.digest));
    let Some(digest) = digest else { return Ok(Kept::default()) };
    let bytes = Archive::new(layout).read(&id, digest)?;
    let object = |(address, class): (String, Option<String>)| KeptObject {
        address,
        provider: String::new(),
        id: None,
        class,
        host: unit.host.clone(),
        places: Vec::new(),
        digest: Some(digest.clone()),
        commit: Some(unit.commit.clone()),
        run: unit.run.clone(),
        at: unit.at,
    };
    Ok(Kept { objects: data::data_resources(&bytes.files).into_iter().map(object).collect() })
}

/// The run of a purge of this name that did not come to its end.
fn cut_off(layout: &Layout, env: &EnvName, name: &Name) -> Result<Option<RunId>, Diagnostics> {
    let (open, unreadable) = runs::open(layout)?;
    unreadable.into_result()?;
    let found = open.into_iter().find(|known| !known.in_progress && is_purge_of(&known.run, env, name));
    Ok(found.filter(|known| known.run.direction == Direction::Forward).map(|known| known.run.begun.run))
}

fn is_purge_of(run: &Run, env: &EnvName, name: &Name) -> bool {
    let words: Vec<String> = run.begun.command.split_whitespace().map(str::to_owned).collect();
    // One behind the other: something may have the name purge.
    let is_purge = spoken::bare_words(&words).windows(2).any(|two| two == ["purge", name.as_str()]);
    is_purge && run.begun.env == *env && run.begun.units.keys().eq([name])
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
