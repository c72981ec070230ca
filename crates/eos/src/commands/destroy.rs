//! `eos destroy`: take everything of an environment away. The pillar is emptied first, so that the next apply does not
//! build it again; data stays unless it is named.

use clap::{Arg, ArgMatches, Command};
use eos_compile::intent::{component_path, operation_path};
use eos_model::Diagnostics;
use eos_pillar::Change;
use serde_json::json;

use super::Call;
use super::delete::let_go;
use crate::args::{self, running};
use crate::dry_run;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::own_file::refuse_part_left;
use crate::recording::{Message, Prepared};
use crate::run::{
    self,
    flow::{self, Wanted},
};

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("environment").value_name("ENVIRONMENT").required(true).help("The environment that goes"))
        .args(running::carrying_out())
        .args(running::data())
        .arg(args::dry_run())
        .arg(Arg::new("because").long("because").value_name("REASON").help("Why, for the history"))
        .after_help("Hosts stay declared, secrets stay with the data they open.\n\nExamples:\n  eos destroy staging\n  eos destroy staging --destroy-data postgres"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let asked = matches.get_one::<String>("environment").map_or("", String::as_str);
    let env = loaded.env_behind("eos destroy", asked)?;
    let environment = loaded.environment(&env)?;
    let destroyed = running::names(matches, "destroy-data")?;
    let only_recorded: Vec<&str> = environment
        .components
        .keys()
        .map(|name| name.as_str())
        .filter(|name| run::never_applied(&loaded.estate, &env, name))
        .collect();
    let mut change = Change::default();
    let mut notes = Vec::new();
    let mut found = Diagnostics::new();
    for (name, entry) in &environment.components {
        let path = component_path(&env, name);
        if let Err(problem) = refuse_part_left(&loaded, &environment, &entry.node, (name.as_str(), &path)) {
            found.push(problem);
        }
    }
    let entries: Vec<_> = environment.components.values().collect();
    let_go(&loaded, &env, &entries, &destroyed, &mut change, &mut notes)?;
    for (id, entry) in &environment.operations {
        let path = operation_path(&env, id);
        match refuse_part_left(&loaded, &environment, &entry.node, (id.as_str(), &path)) {
            Ok(()) => change.remove(path),
            Err(problem) => found.push(problem),
        }
    }
    if found.has_errors() {
        return Err(found);
    }
    let compiled = loaded.compile_with(&change, &env)?;
    if matches.get_flag("dry-run") {
        let prepared = Prepared { change, compiled, made: Vec::new() };
        return Ok(dry_run::show(call.context, &loaded, &env, &prepared, &notes));
    }
    let message = Message::new(call, matches, format!("destroy {env}"));
    let mut wanted = Wanted::new(&env, &compiled, change, message, matches)?;
    if !only_recorded.is_empty() {
        wanted.ask_anyway = true;
        notes.push(format!("Never applied, and gone from the pillar: {}.", only_recorded.join(", ")));
    }
    wanted.notes.clone_from(&notes);
    let (ended, shown) = flow::carry_out(call, &mut loaded, wanted)?;
    let mut outcome = run::ended::outcome(call, &loaded, &env, ended, &shown);
    outcome.json["environment"] = json!(env);
    outcome.json["notes"] = json!(notes);
    Ok(outcome)
}
