//! `eos undo`: take a run back. The pillar goes back first, then what the run touched, in reverse; data stays.

use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_engine::record::Goal;
use eos_engine::{Applied, Layout, Outcome, RunId, UndoOptions, UndoPlan, guard, runs};
use eos_model::{Diagnostic, Diagnostics, codes};
use serde_json::json;

use super::{Call, resume};
use crate::args::running;
use crate::loaded::Loaded;
use crate::outcome::Outcome as Told;
use crate::recording::Message;
use crate::run::entries_back::{self, EntriesBack};
use crate::run::{self, Runs, confirm, flow, going_back, interrupt, undoing};
use crate::views::report as view;
use crate::views::wrap;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .args(resume::arguments())
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Do not ask"))
        .arg(running::preserve_data())
        .after_help(
            "Without a name: the unfinished run, or else the last one.\n\nExamples:\n  eos undo\n  eos undo 20261116-070301-3f2a",
        ))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Told, Diagnostics> {
    let context = call.context;
    let mut loaded = Loaded::open(context)?;
    let asked = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let layout = Layout::new(loaded.estate.root.clone());
    run::first::refuse_missing_state(&loaded.estate, &layout)?;
    let latest = || {
        let (known, _) = runs::all(&layout, 200)?;
        Ok::<_, Diagnostics>(known.into_iter().find(|k| k.run.begun.env == asked).map(|k| k.run.begun.run))
    };
    let found = match resume::which(&layout, &asked, matches)? {
        Some(id) => Some(id),
        None => latest()?,
    };
    let Some(id) = found else {
        return Ok(Told::new(format!("Nothing to undo: {asked} has no run.\n"), json!({ "run": null })));
    };
    let known = runs::find(&layout, &id)?;
    if known.run.outcome == Some(Outcome::Undone) && !matches.contains_id("run") {
        let text = format!("Nothing to undo: the last run of {asked}, {id}, was taken back already.\n")
            + "eos history shows the commits, eos rollback <commit> goes back to one of them.\n";
        return Ok(Told::new(loaded.hint(&asked, &text), json!({ "run": null })));
    }
    if known.in_progress {
        return Err(Diagnostic::error(codes::RUN_UNFINISHED, format!("run {id} still goes on"))
            .why("what is being done cannot be taken back at the same time; nothing was changed")
            .fix("wait until it is over, or press Ctrl-C where it runs; then eos undo again")
            .into());
    }
    let env = known.run.begun.env.clone();
    let [to, from] = undoing::bytes_of(&layout, &known.run);
    let message = Message::about(call, String::new());
    let line = message.line().to_owned();
    let runs = Runs::open(context, &loaded.estate, &[&to, &from], &line)?;
    interrupt::watch(&runs.tools.children);
    let head = loaded.estate.commit_id().unwrap_or_default();
    let last = Applied::new(runs.records.as_ref()).environment(&env)?;
    guard::refuse_stale(&env, last.as_ref(), &head, |older| loaded.estate.git.ancestry(&head, older))?;
    let applied = Applied::new(runs.records.as_ref()).units(&env)?;
    let plan = flow::watched(call, &runs, |engine| engine.plan_undo(&id))?;
    let without_data = flow::watched(call, &runs, |engine| Ok(engine.without_data(&id)?))?;
    let change = going_back::change_of(&loaded, &known.run, &applied, &without_data)?;
    let pillar = EntriesBack::of(&loaded, &env, &change);
    context.say(&plan_text(&plan, context.width));
    context.say(&pillar.text(context.width));
    let agreed = match matches.get_flag("yes") {
        true => Ok(true),
        false => confirm::ask(context, "Take it back?", &format!("{line} --yes")),
    };
    let not_done = json!({"declined": true, "plan": plan, "pillar": pillar});
    match agreed {
        Ok(true) => {}
        Ok(false) => {
            return Ok(Told::new("Nothing was changed.\n", not_done).exits(crate::exit_code::REFUSED));
        }
        // Whoever reads a document is told what would be agreed to.
        Err(nobody) => {
            return Ok(Told::new("", not_done).with_warnings(nobody.into()).exits(crate::exit_code::REFUSED));
        }
    }
    // Without the time that a person takes to answer.
    let started = Instant::now();
    loaded.estate.release();
    let revert = |run: &RunId| undoing::revert(call, &runs, run);
    let looked_after = matches.get_flag("looked-after");
    let follows = |newer: &str, older: &str| loaded.estate.git.descends(newer, older).unwrap_or(false);
    let options = UndoOptions { commit: &revert, follows: &follows, looked_after };
    let report = flow::watched(call, &runs, |engine| engine.undo(&id, &options))?;
    let outputs = run::ended::published(&loaded, &env, &report);
    let mut text =
        view::text(&report, &outputs, started.elapsed().as_secs(), context.width, context.color_stdout);
    let takes_away = report.outcome == Outcome::Undone && pillar.takes_away();
    let before = |commit: &String| loaded.estate.git.revision(&format!("{commit}~1")).ok();
    if let Some(commit) = report.reverted.as_ref().filter(|_| takes_away).and_then(before) {
        text.push_str(&wrap::below("", "", &entries_back::way_back(&commit), context.width, 2));
    }
    text = loaded.hint(&env, &text);
    let exit = view::exit(&report);
    let mut problems = Diagnostics::new();
    match undoing::compile_again(call, &env) {
        Ok(asked) if report.outcome == Outcome::Undone => {
            let applied = Applied::new(runs.records.as_ref()).units(&env)?;
            let half_done = undoing::half_done(&layout, &env)?;
            let notes = undoing::still_asked_for(&asked, &applied, &half_done);
            let notes: Vec<String> = notes.iter().map(|note| loaded.hint(&env, note)).collect();
            for line in notes.iter().flat_map(|note| wrap::wrapped(note, context.width, context.width)) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        Ok(_) => {}
        Err(behind) => problems.extend(behind),
    }
    let mut document = view::document(&report, &outputs);
    document["pillar"] = json!(pillar);
    problems.extend(report.problems);
    Ok(Told::new(text, document).with_warnings(loaded.in_environment(&env, problems)).exits(exit))
}

fn plan_text(plan: &UndoPlan, width: usize) -> String {
    let mut text = format!("Run {} is taken back:\n", plan.run);
    for unit in &plan.units {
        let how = match unit.goal {
            Goal::Present => "back to what it was",
            Goal::Gone => "taken away, since it was new",
        };
        text.push_str(&format!("  {}: {how}\n", unit.unit));
        for address in &unit.keeps {
            text.push_str(&wrap::below("    ", "    ", &format!("{address} stays, with its data"), width, 6));
        }
        for (address, why) in &unit.without_inverse {
            let said = format!("cannot be taken back: {address}, {why}");
            text.push_str(&wrap::below("    ", "    ", &said, width, 6));
        }
    }
    text
}
