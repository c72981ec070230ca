//! `eos rollback`: ask again for what was asked for at an older commit. A new commit says so; data stays.

use clap::{Arg, ArgMatches, Command};
use eos_model::Diagnostics;
use serde_json::json;

use super::Call;
use crate::args;
use crate::dry_run;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{self, Message, Prepared};
use crate::run::flow::{self, Wanted};
use crate::run::undoing;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("revision").value_name("COMMIT").required(true).help("A commit of eos history, or HEAD~2"))
        .args(args::changing())
        .after_help("The history stays: going back is a commit of its own. Data and secrets made since then stay too.\n\nExamples:\n  eos rollback HEAD~2\n  eos rollback HEAD~1 --dry-run"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let asked = matches.get_one::<String>("revision").map_or("", String::as_str);
    let commit = loaded.estate.git.revision(asked)?;
    let change = undoing::change_back(&loaded, &env, &commit)?;
    let compiled = loaded.compile(&loaded.tree.with(&change), &env)?;
    let message = Message::new(call, matches, format!("roll back to {}", &commit[..10]));
    if matches.get_flag("dry-run") {
        let prepared = Prepared { change, compiled, made: Vec::new() };
        let mut outcome = dry_run::show(call.context, &loaded, &env, &prepared, &[]);
        outcome.json["to"] = json!(commit);
        return Ok(outcome);
    }
    if matches.get_flag("no-apply") || call.context.never_apply {
        let prepared = Prepared { change, compiled, made: Vec::new() };
        let recorded = recording::commit(call.context, &mut loaded, &env, &prepared, message)?;
        let text = recorded.told("eos apply does that.");
        return Ok(Outcome::new(text, json!({"to": commit, "commit": recorded.commit, "applied": false})));
    }
    let wanted = Wanted::new(&env, &compiled, change, message, matches)?;
    let (ended, shown) = flow::carry_out(call, &mut loaded, wanted)?;
    Ok(flow::outcome(call, &loaded, &env, ended, &shown))
}
