//! `eos status`: what is applied, what is not yet, which runs are unfinished, and which data was kept. Reads what eos
//! itself remembers; `eos drift` looks at what runs.

use std::collections::{BTreeMap, BTreeSet};

use clap::{ArgMatches, Command};
use eos_engine::applied::Kept;
use eos_engine::{Applied, Attempt, KeptObject, Layout, UnitState, Units, runs};
use eos_model::{Diagnostics, Name, date};
use serde_json::{Value as Json, json};

use super::Call;
use super::locks::age;
use crate::context::Context;
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::run;
use crate::views::runs::{failure_text, run_text};
use crate::views::style::Style;
use crate::views::table::{Paint, Table};
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command.after_help("Examples:\n  eos status\n  eos status --json"))
}

/// Runs that are over and are looked through for what failed in them.
const MOST_RUNS: usize = 200;

/// What there is of a unit.
struct Standing {
    state: &'static str,
    paint: Paint,
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let compiled = loaded.compile(&loaded.tree, &env).and_then(|made| run::units(&env, &made.files));
    // What is applied and which runs are open is known without the pillar, and needed most when something is wrong.
    let (units, mistakes) = match compiled {
        Ok(units) => (units, None),
        Err(found) => (Units { env: env.clone(), units: BTreeMap::new() }, Some(found)),
    };
    let layout = Layout::new(loaded.estate.root.clone());
    let (records, _) = run::store(&loaded.estate, &layout)?;
    let applied = Applied::new(records.as_ref());
    let (there, kept) = (applied.units(&env)?, applied.kept(&env)?);
    let names: BTreeSet<&Name> = units.units.keys().chain(there.keys()).collect();
    let style = Style(call.context.color_stdout);
    let mut table = Table::new(&["STATE", "UNIT", "KIND", "HOST", "SINCE", "WHERE"]);
    let mut rows = Vec::new();
    let (every_run, mut problems) = runs::all(&layout, MOST_RUNS)?;
    let elsewhere = run::first::refuse_missing_state(&loaded.estate, &layout).err();
    let known: Vec<&runs::Known> =
        every_run.iter().filter(|known| known.run.begun.env == env && !known.run.is_finished()).collect();
    // A run of another clone may have begun anything; of our own the journals tell, also of those that are over.
    let is_half_done = |name: &Name, attempt: &Attempt| {
        let ours = every_run.iter().filter(|known| known.run.begun.env == env);
        let mut tries = ours.clone().filter_map(|known| known.run.units.get(name)).map(|unit| unit.state);
        let is_ours = ours.clone().any(|known| known.run.begun.run == attempt.run);
        let last = tries.find(|state| *state != UnitState::Planned);
        !is_ours || last.is_some_and(|state| !matches!(state, UnitState::Done | UnitState::Undone))
    };
    for name in names {
        let (wanted, is) = (units.units.get(name), there.get(name));
        let standing = match (wanted, is) {
            _ if elsewhere.is_some() => Standing { state: "not known", paint: Style::yellow },
            (_, Some(is)) if is.attempt.as_ref().is_some_and(|attempt| is_half_done(name, attempt)) => {
                Standing { state: "half-done", paint: Style::red }
            }
            (Some(wanted), Some(is)) if is.digest.as_ref() == Some(&wanted.digest) => {
                Standing { state: "applied", paint: Style::green }
            }
            (Some(_), Some(is)) if is.digest.is_some() => Standing { state: "changed", paint: Style::yellow },
            (Some(_), _) => Standing { state: "not applied", paint: Style::yellow },
            (None, Some(_)) if mistakes.is_some() => Standing { state: "applied", paint: Style::green },
            (None, _) => Standing { state: "to be removed", paint: Style::yellow },
        };
        let host = wanted.and_then(|unit| unit.manifest.host.as_ref().map(ToString::to_string));
        let host = host.or_else(|| is.and_then(|unit| unit.host.clone()));
        let kind = wanted.map(|unit| unit.manifest.kind.clone()).or_else(|| is.map(|unit| unit.kind.clone()));
        let since = is.map(|unit| u64::try_from(call.context.now - unit.at).unwrap_or(0));
        let place = is.and_then(|unit| {
            ["url", "address"].iter().find_map(|key| unit.outputs.get(*key)?.as_str().map(str::to_owned))
        });
        let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let cells = vec![
            standing.state.to_owned(),
            name.to_string(),
            dash(kind.clone()),
            dash(host.clone()),
            dash(since.map(age)),
            dash(place.clone()),
        ];
        table.painted(cells, standing.paint);
        rows.push(json!({"unit": name, "state": standing.state, "kind": kind, "host": host,
            "applied_at": is.map(|unit| unit.at), "commit": is.map(|unit| &unit.commit),
            "outputs": is.map(|unit| &unit.outputs)}));
    }
    let mut text = if table.is_empty() && mistakes.is_some() {
        String::new()
    } else if table.is_empty() {
        format!("{env} has nothing. eos create makes something; eos catalog list shows what.\n")
    } else {
        table.render(call.context.table_width, call.context.color_stdout)
    };
    if mistakes.is_some() {
        let said = "The pillar does not compile: whether it asks for something else than what is applied is not known.";
        text.push_str(&below("", "", said, call.context.width, 2));
    }
    let drift = applied.seen_drift(&env)?;
    let drift: BTreeMap<_, _> = drift.into_iter().filter(|(name, _)| there.contains_key(name)).collect();
    for (name, seen) in &drift {
        let which = seen.addresses.join(", ");
        let said =
            format!("{name} was not as applied when last looked at, {}: {which}", date::minute(seen.at));
        text.push_str(&below(
            "Drift: ",
            &format!("{}: ", style.yellow("Drift")),
            &said,
            call.context.width,
            2,
        ));
    }
    if !drift.is_empty() {
        let next = loaded.hint(&env, "eos drift looks again, eos drift revert brings it back.");
        text.push_str(&below("  Next: ", "  Next: ", &next, call.context.width, 4));
    }
    let mut open = Vec::new();
    let begun = there.iter().filter(|(_, unit)| unit.attempt.is_some()).map(|(name, _)| name).collect();
    let failures = runs::earlier_failures(&every_run, &env, &begun);
    for (name, failure) in &failures {
        let in_open_run = known.iter().any(|known| known.run.units.contains_key(*name));
        let comes = match units.units.contains_key(*name) || mistakes.is_some() {
            true => "tries it again",
            false => "takes away what there is of it: the pillar does not ask for it any more",
        };
        let next = (!in_open_run).then(|| loaded.hint(&env, &format!("eos apply --only {name} {comes}.")));
        text.push_str(&failure_text(name, failure, next.as_deref(), style, call.context.width));
    }
    for known in known {
        let ways = || loaded.hint(&known.run.begun.env, &run::undoing::ways_on(&loaded, &known.run, &there));
        let (more, document) = run_text(known, &ways, style, call.context.width);
        text.push_str(&more);
        open.push(document);
    }
    for (name, unit) in &there {
        let Some(attempt) = unit.attempt.as_ref().filter(|it| runs::find(&layout, &it.run).is_err()) else {
            continue;
        };
        let said = format!("{} of another clone has begun to change {name} and is not over.", attempt.run);
        text.push_str(&format!("\n{}", below("Run ", "Run ", &said, call.context.width, 4)));
        let next = "eos resume or eos undo in that clone; if it is lost, eos apply here.";
        let next = loaded.hint(&env, next);
        text.push_str(&below("  Next: ", "  Next: ", &next, call.context.width, 4));
    }
    // What a half-done unit is being made over is not lying about.
    let is_left = |(name, _): &(&Name, &Kept)| there.get(*name).is_none_or(|unit| unit.attempt.is_none());
    for (name, kept) in kept.iter().filter(is_left) {
        for object in &kept.objects {
            text.push_str(&kept_line("Kept: ", name, object, call.context));
        }
    }
    let left = kept.iter().filter(is_left).filter(|(_, kept)| !kept.objects.is_empty());
    let (asked_for, gone): (Vec<_>, Vec<_>) =
        left.map(|(name, _)| name).partition(|name| units.units.contains_key(*name));
    let purge = |name: &&Name| format!("eos purge {name}");
    let mut nexts = Vec::new();
    if !gone.is_empty() {
        let purges: Vec<String> = gone.iter().map(purge).collect();
        nexts.push(format!(
            "eos create takes it over under the same name; {} destroys it for good.",
            purges.join(" or ")
        ));
    }
    for name in asked_for {
        let purge = purge_of_asked_for(name);
        // One that runs beside what was kept of it does not take that up.
        nexts.push(match there.contains_key(name) {
            true => format!("{purge} destroys it for good, and {name} goes with it."),
            false => format!("eos apply takes the data of {name} up again; {purge} destroys it for good."),
        });
    }
    for next in nexts {
        let next = loaded.hint(&env, &next);
        text.push_str(&below("  Next: ", "  Next: ", &next, call.context.width, 4));
    }
    let failures: Vec<Json> = failures
        .iter()
        .map(|(name, failure)| {
            let begun = &failure.run.begun;
            json!({"unit": name, "run": begun.run, "command": begun.command, "reasons": failure.reasons})
        })
        .collect();
    let document = json!({"environment": env, "units": rows, "runs": open, "failures": failures, "kept": kept, "drift": drift,
        "compiles": mistakes.is_none()});
    // What is applied is written where the state is.
    problems.extend(elsewhere.unwrap_or_default());
    problems.extend(mistakes.unwrap_or_default());
    // A journal that cannot be read may be that of a run which is not over.
    let exit = if problems.has_errors() { exit_code::of(&problems) } else { 0 };
    Ok(Outcome::new(text, document).with_warnings(problems).exits(exit))
}

/// How the data that was kept of a name goes for good while the pillar asks for the name.
pub fn purge_of_asked_for(name: &Name) -> String {
    format!("eos delete {name}, then eos purge {name}")
}

/// What was kept of a name: which object, which data, where, and since when.
pub fn kept_line(head: &str, name: &Name, object: &KeptObject, context: &Context) -> String {
    let class = object.class.as_ref().map(|class| format!(" ({class})")).unwrap_or_default();
    let mut said = format!("{} of {name}{class}", object.address);
    if !object.places.is_empty() {
        said.push_str(&format!(": {}", object.places.join(", ")));
    }
    match (&object.host, &object.id) {
        (Some(host), _) => said.push_str(&format!(" on {host}")),
        (None, Some(id)) => said.push_str(&format!(", id {id}")),
        (None, None) => {}
    }
    said.push_str(&format!(", since {}", date::minute(object.at)));
    below(head, head, &said, context.width, 2)
}
