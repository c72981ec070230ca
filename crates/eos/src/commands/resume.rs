//! `eos resume`: go on with a run that was cut off, failed or stopped. Nothing is done twice.

use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_engine::{Layout, Outcome as Ending, ResumeOptions, RunId, runs};
use eos_model::{Diagnostic, Diagnostics, EnvName, codes};
use serde_json::json;

use super::Call;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::Message;
use crate::run::flow;
use crate::run::{self, Runs, interrupt, undoing};
use crate::views::report as view;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    let yes = Arg::new("yes")
        .long("yes")
        .short('y')
        .action(ArgAction::SetTrue)
        .help("Accepted: resume asks nothing");
    Ok(command.args(arguments()).arg(yes).after_help(
        "What was agreed to when the run began still counts; anything beyond it stops the run.\n\nExamples:\n  eos resume\n  eos resume --looked-after",
    ))
}

/// Of `eos resume` and `eos undo`.
pub fn arguments() -> Vec<Arg> {
    vec![
        Arg::new("run")
            .value_name("RUN")
            .help("The run, as eos status or the run itself named it; the unfinished one if not given"),
        Arg::new("looked-after")
            .long("looked-after")
            .action(ArgAction::SetTrue)
            .help("You have looked after what the run listed as possibly left behind"),
    ]
}

/// The run that is meant.
pub fn which(layout: &Layout, env: &EnvName, matches: &ArgMatches) -> Result<Option<RunId>, Diagnostics> {
    match matches.get_one::<String>("run") {
        Some(word) => {
            let bad = |_| {
                Diagnostic::error(codes::NO_SUCH_RUN, format!("{word:?} is not the name of a run"))
                    .fix(runs::instead(layout))
            };
            Ok(Some(word.parse().map_err(bad)?))
        }
        None => Ok(runs::unfinished(layout, env)?.map(|known| known.run.begun.run)),
    }
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let started = Instant::now();
    let mut loaded = Loaded::open(call.context)?;
    let asked = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let layout = Layout::new(loaded.estate.root.clone());
    run::first::refuse_missing_state(&loaded.estate, &layout)?;
    let Some(id) = which(&layout, &asked, matches)? else {
        let text = format!("Nothing to resume: no run of {asked} is unfinished.\n");
        return Ok(Outcome::new(text, json!({ "run": null })));
    };
    let known = runs::find(&layout, &id)?;
    let env = known.run.begun.env.clone();
    let [to, from] = undoing::bytes_of(&layout, &known.run);
    loaded.estate.release();
    let message = Message::about(call, String::new());
    let runs = Runs::open(call.context, &loaded.estate, &[&from, &to], message.line())?;
    interrupt::watch(&runs.tools.children);
    let revert = |run: &RunId| undoing::revert(call, &runs, run);
    let follows = |newer: &str, older: &str| loaded.estate.git.descends(newer, older).unwrap_or(false);
    let options = ResumeOptions {
        follows: Some(&follows),
        looked_after: matches.get_flag("looked-after"),
        before_undo: Some(&revert),
        ..ResumeOptions::default()
    };
    let mut report = flow::watched(call, &runs, |engine| engine.resume(&id, &options))?;
    let outputs = run::ended::published(&loaded, &env, &report);
    let context = call.context;
    let text =
        view::text(&report, &outputs, started.elapsed().as_secs(), context.width, context.color_stdout);
    let text = loaded.hint(&env, &text);
    let (exit, document) = (view::exit(&report), view::document(&report, &outputs));
    if report.outcome == Ending::Undone
        && let Err(behind) = undoing::compile_again(call, &env)
    {
        report.problems.extend(behind);
    }
    Ok(Outcome::new(text, document)
        .with_warnings(loaded.in_environment(&env, view::problems(report)))
        .exits(exit))
}
