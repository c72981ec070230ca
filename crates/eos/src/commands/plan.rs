//! `eos plan`: what an apply would do, on one screen. Changes nothing; exit 2 when there is something to do.

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_engine::plan_file;
use eos_model::Diagnostics;
use eos_pillar::Change;

use super::Call;
use crate::args::running;
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::Message;
use crate::run::flow::{self, Wanted};
use crate::run::{self, Runs, interrupt};
use crate::views::plan as view;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .args(running::choosing())
        .arg(Arg::new("out").long("out").value_name("FILE").help("Keep the plan, for eos apply FILE"))
        .arg(
            Arg::new("markdown")
                .long("markdown")
                .action(ArgAction::SetTrue)
                .help("Print it for a pull request"),
        )
        .after_help(
            "Exit code 0 when there is nothing to do, 2 when there is.\n\nExamples:\n  eos plan\n  eos plan --only grafana\n  eos plan --out monday.plan && eos apply monday.plan\n  eos plan --markdown > comment.md",
        ))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let compiled = loaded.compile(&loaded.tree, &env)?;
    flow::make_ready(call, &mut loaded)?;
    let units = run::units(&env, &compiled.files)?;
    loaded.estate.release();
    let wanted =
        Wanted::new(&env, &compiled, Change::default(), Message::about(call, String::new()), matches)?;
    let runs = Runs::open(call.context, &loaded.estate, &[&units], wanted.message.line())?;
    interrupt::watch(&runs.tools.children);
    let shown = flow::plan(call, &mut loaded, &runs, &wanted, &units)?;
    let out = matches.get_one::<String>("out");
    // One with nothing to do as well: a pipeline applies what the step before it kept, whatever that is.
    if let Some(file) = out {
        let key = run::first::plan_key(call.context, &loaded.estate)?;
        plan_file::write(&call.context.directory.join(file), &shown.plan, &shown.previews, &key)?;
    }
    let text = if matches.get_flag("markdown") {
        view::markdown(&shown.plan, &shown.previews, shown.cost.as_ref())
    } else {
        let next = match out {
            Some(file) if shown.plan.is_empty() => {
                format!("Kept in {file}; eos apply {file} does nothing.\n")
            }
            None if shown.plan.is_empty() => String::new(),
            Some(file) if shown.blocked => format!("Kept in {file}.\n"),
            None if shown.blocked => String::new(),
            Some(file) => format!("Kept in {file}. Next: eos apply {file}\n"),
            None => loaded.hint(&env, "Next: eos apply\n"),
        };
        shown.text(call.context) + &next
    };
    let document = shown.document();
    let outcome = Outcome::new(text, document).with_warnings(shown.warnings);
    Ok(if shown.plan.is_empty() { outcome } else { outcome.exits(exit_code::CHANGES) })
}
