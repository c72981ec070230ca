//! `eos drift`: what differs from what was applied, though nobody asked for it; and what to do about it.

use std::collections::BTreeSet;
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_engine::{Applied, AppliedEnvironment, Change, Drift, DriftRequest, IgnoredDrift, RunOptions, guard};
use eos_model::nearest::nearest;
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, UnitId, codes, date};
use serde_json::json;

use super::{Call, drift_accept, drift_watch};
use crate::args::{self, running};
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::Message;
use crate::run::ended::{Ended, outcome};
use crate::run::flow;
use crate::run::shown::Shown;
use crate::run::{self, Runs, confirm, interrupt};
use crate::views::plan_lines::preview_key;
use crate::views::style::Style;
use crate::views::wrap::below;

/// What can be done about what differs, besides looking.
const VERBS: [&str; 4] = ["accept", "ignore", "revert", "watch"];

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    let name = || Arg::new("name").value_name("NAME").help("Only this unit");
    Ok(command
        .override_usage("eos drift [OPTIONS] [NAME]\n       eos drift [OPTIONS] <COMMAND>")
        .arg(name())
        .subcommand(drift_watch::command(name()))
        .subcommand(
            Command::new("revert").about("Bring back what was applied").arg(name()).args(running::carrying_out()),
        )
        .subcommand(
            Command::new("accept")
                .about("Make the pillar ask for what is there, where settings decide it")
                .arg(name().required(true))
                .args(args::changing()),
        )
        .subcommand(
            Command::new("ignore")
                .about("Live with a difference until the unit is applied again; recorded")
                .override_usage("eos drift ignore [OPTIONS] <NAME> --because <REASON>\n       eos drift ignore [OPTIONS] <NAME> --end")
                .arg(name().required(true))
                .arg(
                    Arg::new("because")
                        .long("because")
                        .value_name("REASON")
                        .required_unless_present("end")
                        .help("Why; kept"),
                )
                .arg(
                    Arg::new("end").long("end").action(ArgAction::SetTrue).help("Tell of it again from now on"),
                ),
        )
        .after_help(
            "Exit code 0 when nothing differs, 2 when something does.\n\nExamples:\n  eos drift\n  eos drift grafana\n  eos drift revert grafana\n  eos drift accept grafana\n  eos drift ignore grafana --because \"until monday\"\n  eos drift watch --every 5m",
        ))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let (verb, inner) = matches.subcommand().unwrap_or(("", matches));
    refuse_name_before(verb, matches)?;
    let context = call.context;
    let mut loaded = Loaded::open(context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let only = match inner.try_get_one::<String>("name").ok().flatten() {
        Some(word) => {
            let name: Name =
                word.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
            Some(BTreeSet::from([name]))
        }
        None => None,
    };
    let layout = eos_engine::Layout::new(loaded.estate.root.clone());
    run::first::refuse_missing_state(&loaded.estate, &layout)?;
    let units = run::units(&env, &loaded.compile(&loaded.tree, &env)?.files)?;
    loaded.estate.release();
    let message = Message::about(call, String::new());
    let runs = Runs::open(context, &loaded.estate, &[&units], message.line())?;
    interrupt::watch(&runs.tools.children);
    let head = loaded.estate.commit_id().unwrap_or_default();
    let preview = |change: &Change| runs.side.preview(&preview_key(&env, change)).unwrap_or_default();
    // Who names a unit to bring it back means all of it.
    let everything = verb == "revert" && only.is_some();
    let request =
        DriftRequest { env: &env, commit: &head, only: only.as_ref(), preview: &preview, everything };
    // Behind, it lacks what others applied: nothing could be compared with that.
    let last = Applied::new(runs.records.as_ref()).environment(&env)?;
    guard::refuse_stale(&env, last.as_ref(), &head, |older| loaded.estate.git.ancestry(&head, older))?;
    refuse_unknown(&runs, &env, only.as_ref(), verb)?;
    run::archived::complete(&loaded, &layout, &Applied::new(runs.records.as_ref()), &env)?;
    if verb == "watch" {
        return drift_watch::run(call, inner, &runs, &request);
    }
    if verb == "ignore" && inner.get_flag("end") {
        return heed(&runs, &env, only.iter().flatten());
    }
    let drift = flow::watched(call, &runs, |engine| engine.drift(&request))?;
    match verb {
        "revert" => revert(call, inner, &loaded, &runs, &env, drift, &head),
        "accept" => drift_accept::run(call, inner, &runs, &env, &drift),
        "ignore" => ignore(call, inner, &runs, &env, &drift),
        _ => Ok(shown(call, &loaded, &env, &drift, only.as_ref(), &runs)?),
    }
}

/// What is to be done comes first: read the other way round it would be done to everything.
fn refuse_name_before(verb: &str, matches: &ArgMatches) -> Result<(), Diagnostic> {
    let Some(name) = matches.get_one::<String>("name").filter(|_| !verb.is_empty()) else { return Ok(()) };
    Err(Diagnostic::error(codes::USAGE, format!("{name} stands before what is to be done with it"))
        .fix(format!("eos drift {verb} {name}")))
}

fn refuse_unknown(
    runs: &Runs,
    env: &EnvName,
    only: Option<&BTreeSet<Name>>,
    verb: &str,
) -> Result<(), Diagnostics> {
    let there = Applied::new(runs.records.as_ref()).units(env)?;
    let Some(name) = only.into_iter().flatten().find(|name| !there.contains_key(*name)) else {
        return Ok(());
    };
    // Without a verb the word may be one.
    let verbs = VERBS.iter().copied().filter(|_| verb.is_empty());
    let near = nearest(name.as_str(), there.keys().map(Name::as_str).chain(verbs));
    let fix = match near {
        None => "eos status shows what is applied".to_owned(),
        Some(near) if there.contains_key(near) => format!("did you mean {near}?"),
        Some(near) => format!("did you mean eos drift {near}?"),
    };
    Err(Diagnostic::error(codes::UNKNOWN_NAME, format!("nothing of {name} is applied in {env}"))
        .fix(fix)
        .into())
}

/// Lines of a preview that are shown; `eos drift --json` has all of them.
const MOST_LINES: usize = 12;

fn shown(
    call: &Call<'_>,
    loaded: &Loaded,
    env: &EnvName,
    drift: &Drift,
    only: Option<&BTreeSet<Name>>,
    runs: &Runs,
) -> Result<Outcome, Diagnostics> {
    let previews = &runs.side.previews();
    let style = Style(call.context.color_stdout);
    let document =
        json!({"environment": env, "drift": drift, "drifted": !drift.units.is_empty(), "previews": previews});
    if drift.units.is_empty() {
        let of: String = only.into_iter().flatten().map(|name| format!(" of {name}")).collect();
        let mut text = match drift.units_as_applied.units.len() {
            0 => format!("Nothing{of} is applied in {env}.\n"),
            _ => format!("Nothing{of} in {env} differs from what was applied.\n"),
        };
        text.push_str(&ignored(call, env, drift, runs)?);
        return Ok(Outcome::new(text, document));
    }
    let mut text = String::new();
    for (name, changes) in &drift.units {
        text.push_str(&format!("{}\n", style.bold(name.as_str())));
        for change in changes {
            let said = format!("{}: {}", change.address, difference(change));
            text.push_str(&below("  ", "  ", &said, call.context.width, 4));
            let preview = previews.get(&preview_key(env, change)).map_or("", String::as_str);
            for line in preview.lines().take(MOST_LINES) {
                let line = below("    ", "    ", line, call.context.width, 6);
                text.push_str(&style.dim(line.trim_end()));
                text.push('\n');
            }
            let more = preview.lines().count().saturating_sub(MOST_LINES);
            if more > 0 {
                text.push_str(&style.dim(&format!("    … {more} more lines: eos drift --json")));
                text.push('\n');
            }
        }
    }
    text.push_str(&ignored(call, env, drift, runs)?);
    let next = loaded.hint(env, &ways_on(loaded, runs, env, drift, only));
    text.push_str(&below("Next: ", "Next: ", &next, call.context.width, 2));
    let lost = run::lost_data::warnings(call.context, loaded, env, drift.units.keys())?;
    Ok(Outcome::new(text, document).with_warnings(lost).exits(exit_code::CHANGES))
}

/// What can be done about it. Only what the settings can ask for is offered to be accepted.
fn ways_on(
    loaded: &Loaded,
    runs: &Runs,
    env: &EnvName,
    drift: &Drift,
    only: Option<&BTreeSet<Name>>,
) -> String {
    let asked: String = only.into_iter().flatten().map(|name| format!(" {name}")).collect();
    let mut ways = vec![format!("eos drift revert{asked} brings it back")];
    let names: Vec<&Name> = drift.units.keys().collect();
    let can_be = |name: &&&Name| drift_accept::accepted(loaded, runs, env, drift, name).is_ok();
    ways.extend(
        names.iter().filter(can_be).map(|name| format!("eos drift accept {name} asks for it from now on")),
    );
    if ways.len() == 1 {
        let all = if names.len() == 1 { names[0].as_str() } else { "<name>" };
        ways.push(format!("eos drift ignore {all} --because \"...\" lives with it"));
    }
    format!("{}.", ways.join(", "))
}

/// What is ignored, and who decided so, when and why.
fn ignored(call: &Call<'_>, env: &EnvName, drift: &Drift, runs: &Runs) -> Result<String, Diagnostics> {
    let mut text = String::new();
    for name in drift.ignored.keys() {
        let unit = UnitId { env: env.clone(), name: name.clone() };
        for rule in Applied::new(runs.records.as_ref()).ignored_drift(&unit)? {
            let said = format!(
                "{} of {name}, by {} {}: {}",
                rule.address,
                rule.by,
                date::minute(rule.at),
                rule.because
            );
            text.push_str(&below("Ignored: ", "Ignored: ", &said, call.context.width, 2));
        }
    }
    Ok(text)
}

pub(super) fn difference(change: &Change) -> String {
    use eos_engine::ChangeKind;
    if change.kind == ChangeKind::Create {
        return "is gone".to_owned();
    }
    let paths: Vec<&str> = change
        .fields
        .iter()
        .map(|field| field.path.as_str())
        .filter(|path| *path != "modify_index")
        .collect();
    match paths.as_slice() {
        ["in_sync"] | [] => "is not what was applied".to_owned(),
        more => format!("differs in {}", more.join(", ")),
    }
}

fn revert(
    call: &Call<'_>,
    matches: &ArgMatches,
    loaded: &Loaded,
    runs: &Runs,
    env: &EnvName,
    drift: Drift,
    head: &str,
) -> Result<Outcome, Diagnostics> {
    let context = call.context;
    let cost = Shown::cost_of(loaded, &drift.revert)?;
    let previews = runs.side.previews();
    let shown = Shown {
        plan: drift.revert,
        previews,
        cost,
        warnings: run::lost_data::warnings(context, loaded, env, drift.units.keys())?,
        left: Default::default(),
        blocked: false,
        only_recorded: false,
    };
    shown.say(context, loaded);
    let recorded = || crate::recording::Recorded { commit: None, difference: Default::default() };
    let ended = if shown.plan.is_empty() {
        Ended::NothingToDo(recorded())
    } else {
        let line = Message::about(call, String::new()).line().to_owned();
        if !running::is_set(matches, "yes") && !confirm::ask(context, "Do this?", &format!("{line} --yes"))? {
            Ended::Declined
        } else {
            let judge = |last: Option<&AppliedEnvironment>| {
                guard::refuse_stale(env, last, head, |older| loaded.estate.git.ancestry(head, older))
            };
            let options = RunOptions {
                commit: head,
                on_failure: running::on_failure(matches),
                judge: Some(&judge),
                looked_after: running::is_set(matches, "looked-after"),
                ..RunOptions::default()
            };
            let begun = Instant::now();
            let report = flow::apply(call, runs, &shown.plan, &drift.units_as_applied, &options)?;
            Ended::Ran(recorded(), Box::new(report), begun.elapsed())
        }
    };
    Ok(outcome(call, loaded, env, ended, &shown))
}

fn ignore(
    call: &Call<'_>,
    matches: &ArgMatches,
    runs: &Runs,
    env: &EnvName,
    drift: &Drift,
) -> Result<Outcome, Diagnostics> {
    let because = matches.get_one::<String>("because").cloned().unwrap_or_default();
    let mut text = String::new();
    for (name, changes) in &drift.units {
        let preview = |change: &Change| runs.side.preview(&preview_key(env, change)).unwrap_or_default();
        let rules = changes.iter().map(|change| IgnoredDrift {
            address: change.address.clone(),
            path: None,
            seen: Some(eos_engine::drift::difference(change, &preview(change))),
            because: because.clone(),
            by: format!("{}@{}", call.context.user, call.context.machine),
            at: call.context.now,
        });
        let unit = UnitId { env: env.clone(), name: name.clone() };
        let engine = runs.engine(&eos_engine::observer::Unwatched, &eos_engine::observer::Trusting);
        let mut all = engine.applied().ignored_drift(&unit)?;
        all.extend(rules);
        engine.applied().ignore_drift(&unit, all)?;
        engine.applied().see_drift(&unit, None)?;
        text.push_str(&format!(
            "{name}: this difference is ignored until {name} is applied again, which brings it back.\n"
        ));
    }
    if text.is_empty() {
        text.push_str("Nothing differs.\n");
    }
    Ok(Outcome::new(text, json!({"ignored": drift.units.keys().collect::<Vec<_>>()})))
}

fn heed<'n>(
    runs: &Runs,
    env: &EnvName,
    names: impl Iterator<Item = &'n Name>,
) -> Result<Outcome, Diagnostics> {
    let mut text = String::new();
    for name in names {
        let unit = UnitId { env: env.clone(), name: name.clone() };
        Applied::new(runs.records.as_ref()).ignore_drift(&unit, Vec::new())?;
        text.push_str(&format!("{name}: every difference is told again.\n"));
    }
    Ok(Outcome::new(text, json!({"ignored": []})))
}
