//! `eos apply`: bring what runs to what the pillar says, after showing it and asking.

use clap::{Arg, ArgMatches, Command};
use eos_engine::{Applied, plan_file};
use eos_model::{Diagnostic, Diagnostics, codes};
use eos_pillar::Change;

use super::Call;
use crate::args::running;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::Message;
use crate::run::ended::outcome;
use crate::run::flow::{self, Wanted};
use crate::run::in_the_way::unfinished;
use crate::run::shown::Shown;
use crate::run::{self, Runs, interrupt};

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("plan").value_name("PLAN").help("A plan that eos plan --out kept; applied exactly as it was shown"))
        .args(running::choosing())
        .args(running::carrying_out())
        .arg(Arg::new("because").long("because").value_name("REASON").help("Why, for the history"))
        .after_help(
            "Examples:\n  eos apply\n  eos apply --only nextcloud --yes\n  eos apply monday.plan\n  eos apply --on-failure undo",
        ))
}

/// A kept plan is applied as it was shown: whatever would have made another plan of it is a mistake, and no wish to pass over.
fn refuse_choices(matches: &ArgMatches) -> Result<(), Diagnostics> {
    let typed = |id: &str| matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
    let given: Vec<String> = running::choosing()
        .iter()
        .filter(|arg| typed(arg.get_id().as_str()) && arg.get_id() != "preserve-data")
        .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
        .collect();
    if given.is_empty() {
        return Ok(());
    }
    let given = given.join(", ");
    Err(Diagnostic::error(codes::USAGE, format!("{given} cannot be said of a plan that was kept"))
        .why("it is applied exactly as it was shown")
        .fix(format!("leave it out; or keep another plan: eos plan takes {given}, too"))
        .into())
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let asked = matches.get_one::<String>("env").map(String::as_str);
    let mut loaded = Loaded::open_for_change(call.context)?;
    let kept = match matches.get_one::<String>("plan") {
        Some(file) => {
            refuse_choices(matches)?;
            let key = run::first::plan_key(call.context, &loaded.estate)?;
            let kept = plan_file::read(&call.context.directory.join(file), &key)?;
            if let Some(asked) = asked.filter(|asked| *asked != kept.0.env.as_str()) {
                let message = format!("{file} is a plan for {}, not for {asked}", kept.0.env);
                let fix = format!("leave out --env, or eos plan --env {asked} --out {file}");
                return Err(Diagnostic::error(codes::USAGE, message).fix(fix).into());
            }
            Some(kept)
        }
        None => None,
    };
    let env = match &kept {
        Some((plan, _)) => loaded.env(Some(plan.env.as_str()))?,
        None => loaded.env(asked)?,
    };
    let compiled = loaded.compile(&loaded.tree, &env)?;
    let message = Message::new(call, matches, run::first::subject(&env));
    let wanted = Wanted::new(&env, &compiled, Change::default(), message, matches)?;
    let Some((mut plan, previews)) = kept else {
        let (ended, shown) = flow::carry_out(call, &mut loaded, wanted)?;
        return Ok(outcome(call, &loaded, &env, ended, &shown));
    };
    let units = run::units(&env, &compiled.files)?;
    let head = loaded.estate.commit_id().unwrap_or_default();
    plan.refuse_outdated(&head, &units)?;
    flow::make_ready(call, &mut loaded)?;
    loaded.estate.release();
    let runs = Runs::open(call.context, &loaded.estate, &[&units], wanted.message.line())?;
    plan.refuse_applied_since(&Applied::new(runs.records.as_ref()).units(&env)?)?;
    interrupt::watch(&runs.tools.children);
    // Who was silent when it was planned may answer by now.
    let silent = if plan.units.values().any(|unit| unit.unreached.is_some()) {
        runs.here.silent_nomad()
    } else {
        None
    };
    for unit in plan.units.values_mut().filter(|unit| unit.unreached.is_some()) {
        unit.unreached.clone_from(&silent);
    }
    let cost = Shown::cost_of(&loaded, &plan)?;
    let (mut warnings, blocked) = unfinished(&loaded, &runs, &plan)?;
    run::others_folders::refuse(call.context, &loaded, &runs, &wanted, &plan)?;
    warnings.extend(run::taken_ports::warnings(call.context, &loaded, &runs, &wanted, &plan)?);
    warnings.0.extend(run::this_machine::warn_of_ordinary_user(call.context, &plan, &units));
    warnings.extend(run::closed_folder::warnings(call.context, &loaded, &runs, &wanted, &plan)?);
    let warnings = loaded.in_environment(&env, warnings);
    let shown =
        Shown { plan, previews, cost, warnings, left: Default::default(), blocked, only_recorded: false };
    let ended = flow::agree_and_apply(call, &mut loaded, &runs, wanted, &units, &shown);
    let ended = ended.map_err(|found| shown.beside(call.context, found))?;
    Ok(outcome(call, &loaded, &env, ended, &shown))
}
