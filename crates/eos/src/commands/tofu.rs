//! `eos tofu`: any command of tofu's for one unit, in its folder, with its version, state and credentials.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command};
use eos_engine::observer::{Trusting, Unwatched};
use eos_engine::{Applied, Archive, Layout, Unit, Units, guard};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, UnitId, codes, nearest::nearest};
use serde_json::json;

use super::Call;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::Message;
use crate::run::{self, Runs, interrupt};

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("name").value_name("NAME").required(true).help("The unit"))
        .arg(
            Arg::new("arguments")
                .value_name("ARGUMENTS")
                .num_args(1..)
                .last(true)
                .required(true)
                .allow_hyphen_values(true)
                .help("What tofu is told, behind --"),
        )
        .after_help(
            "Nobody else works on the unit meanwhile; whatever may write is refused in a clone that is behind. What you change by hand is not in eos's history.\n\nExamples:\n  eos tofu grafana -- state list\n  eos tofu grafana -- plan",
        ))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let mut loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let layout = Layout::new(loaded.estate.root.clone());
    run::first::refuse_missing_state(&loaded.estate, &layout)?;
    let units = run::units(&env, &loaded.compile(&loaded.tree, &env)?.files)?;
    let name = matches.get_one::<String>("name").map_or("", String::as_str);
    let compiled = units.units.iter().find(|(known, _)| known.as_str() == name).map(|(_, unit)| unit.clone());
    let Some(unit) = compiled.map_or_else(|| applied(&loaded, &layout, &env, name), |unit| Ok(Some(unit)))?
    else {
        let near = nearest(name, units.units.keys().map(|known| known.as_str()));
        let fix = near
            .map_or_else(|| "eos list shows the names".to_owned(), |near| format!("did you mean {near}?"));
        let message = format!("there is no unit {name} in {env}");
        return Err(Diagnostic::error(codes::UNKNOWN_NAME, message).fix(fix).into());
    };
    let arguments: Vec<String> =
        matches.get_many::<String>("arguments").into_iter().flatten().cloned().collect();
    refuse_workspaces(&unit, &arguments)?;
    loaded.estate.release();
    let line = Message::about(call, String::new()).line().to_owned();
    // Only what asks the machines needs what asks them.
    let asked = if asks_machines(&arguments) { units } else { Units { units: BTreeMap::new(), ..units } };
    let runs = Runs::open(call.context, &loaded.estate, &[&asked], &line)?;
    // The terminal's Ctrl-C reaches tofu by itself; eos only has to outlive it.
    interrupt::outlive();
    let engine = runs.engine(&Unwatched, &Trusting);
    if !only_looks(&arguments) {
        let head = loaded.estate.commit_id().unwrap_or_default();
        let last = engine.applied().environment(&env)?;
        guard::refuse_stale(&env, last.as_ref(), &head, |older| loaded.estate.git.ancestry(&head, older))?;
        engine.refuse_unasked_data(&unit)?;
    }
    let (status, printed) = if call.context.json {
        let output = engine.run_tofu_kept(&unit, &arguments)?;
        (output.status, Some(String::from_utf8_lossy(&output.stdout).into_owned()))
    } else {
        (engine.run_tofu(&unit, &arguments)?, None)
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    Ok(Outcome::new("", json!({"exit": code, "stdout": printed})).exits(code))
}

/// Commands of tofu's that change neither what runs nor its state: a clone that is behind may look.
const LOOKING: &[&str] = &[
    "",
    "console",
    "fmt",
    "get",
    "graph",
    "init",
    "metadata",
    "modules",
    "output",
    "plan",
    "providers",
    "show",
    "state list",
    "state pull",
    "state show",
    "validate",
    "version",
    "workspace list",
    "workspace show",
];

/// Whatever is not known to look only may write.
fn only_looks(arguments: &[String]) -> bool {
    let (first, second) = first_words(arguments);
    LOOKING.contains(&first) || LOOKING.contains(&format!("{first} {second}").as_str())
}

/// The command that tofu is given, and what may be a command of that one.
fn first_words(arguments: &[String]) -> (&str, &str) {
    let mut words = arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    (words.next().unwrap_or(""), words.next().unwrap_or(""))
}

/// Whether tofu would leave the workspace that a unit's state is in; `env` is what tofu called workspaces once.
fn changes_workspace(arguments: &[String]) -> bool {
    matches!(first_words(arguments), ("workspace" | "env", "new" | "select" | "delete"))
}

fn refuse_workspaces(unit: &Unit, arguments: &[String]) -> Result<(), Diagnostic> {
    if !changes_workspace(arguments) {
        return Ok(());
    }
    let (name, kind) = (unit.name(), &unit.manifest.kind);
    Err(Diagnostic::error(
        codes::STATE_ELSEWHERE,
        format!("the state of {name} is in tofu's workspace default and stays there"),
    )
    .why("in another workspace tofu finds no state: everything that runs would look new, and be made a second time")
    .fix(format!(
        "for a second one: eos create {kind} <another name>, or eos create {kind} --env <another environment>"
    )))
}

/// Whether tofu lets its providers look at what is there, or change it.
fn asks_machines(arguments: &[String]) -> bool {
    let first = arguments.iter().find(|word| !word.starts_with('-'));
    !only_looks(arguments) || first.is_some_and(|word| word == "plan")
}

/// A unit that is no longer asked for, as it was applied or begun: when it is stuck, somebody has to look.
fn applied(loaded: &Loaded, layout: &Layout, env: &EnvName, name: &str) -> Result<Option<Unit>, Diagnostics> {
    let Ok(name) = name.parse::<Name>() else { return Ok(None) };
    let id = UnitId { env: env.clone(), name };
    let (records, _) = run::store(&loaded.estate, layout)?;
    let record = Applied::new(records.as_ref()).unit(&id)?;
    let digest = record.and_then(|record| record.digest.or(record.attempt.map(|attempt| attempt.digest)));
    Ok(digest.map(|digest| Archive::new(layout).read(&id, &digest)).transpose()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_write_is_told_from_what_looks() {
        let looks = |line: &str| only_looks(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(LOOKING.is_sorted());
        for line in ["state list", "plan -out=x", "-version", "output -json", "providers schema -json"] {
            assert!(looks(line), "{line}");
        }
        for line in
            ["apply -auto-approve", "destroy", "state rm x", "import a b", "refresh", "state", "taint x"]
        {
            assert!(!looks(line), "{line}");
        }
        let leaves = |line: &str| changes_workspace(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(
            ["workspace new x", "workspace select -or-create x", "-no-color env delete x"]
                .into_iter()
                .all(leaves)
        );
        assert!(
            !["workspace list", "workspace show", "state show new", "import new x"].into_iter().any(leaves)
        );
        let asks = |line: &str| asks_machines(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(["plan -out=x", "apply", "import a b", "refresh"].into_iter().all(asks));
        assert!(!["version", "-version", "state list", "output -json"].into_iter().any(asks));
    }
}
