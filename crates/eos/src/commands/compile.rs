//! `eos compile`: the pillar to build/, or the question whether build/ is what the pillar says.

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_model::{Diagnostics, EnvName};
use serde_json::json;

use super::Call;
use crate::build_folder::{self, Difference};
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("check").long("check").action(ArgAction::SetTrue).help("Write nothing; exit 2 when build/ is not what the pillar says"))
        .after_help("Examples:\n  eos compile\n  eos compile --env staging\n  eos compile --check        in CI"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let check = matches.get_flag("check");
    let environments: Vec<EnvName> = match matches.get_one::<String>("env") {
        Some(env) => vec![loaded.env(Some(env))?],
        None => loaded.estate.file.environments.keys().cloned().collect(),
    };
    let mut warnings = Diagnostics::new();
    let mut found = Diagnostics::new();
    let mut results = Vec::new();
    for env in environments {
        match loaded.compile(&loaded.tree, &env) {
            Ok(compiled) => {
                warnings.extend(compiled.warnings.clone());
                results.push((env, compiled));
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    if found.has_errors() {
        return Err(found);
    }
    let mut text = String::new();
    let mut documents = Vec::new();
    let mut differs = false;
    for (env, compiled) in results {
        let difference = if check { build_folder::compare(&loaded.estate.root, &env, &compiled.files) } else { build_folder::sync(&loaded.estate.root, &env, &compiled.files)? };
        differs |= !difference.is_empty();
        text.push_str(&line(&env, compiled.order.len(), &difference, check));
        documents.push(json!({"environment": env, "units": compiled.order, "added": difference.added, "changed": difference.changed, "removed": difference.removed, "same": difference.same}));
    }
    let exit = if check && differs { exit_code::CHANGES } else { 0 };
    Ok(Outcome::new(text, json!({"check": check, "environments": documents})).with_warnings(warnings).exits(exit))
}

fn line(env: &EnvName, units: usize, difference: &Difference, check: bool) -> String {
    let mut text = format!("{env}: {units} unit{}, ", if units == 1 { "" } else { "s" });
    if difference.is_empty() {
        text.push_str("build/ is up to date\n");
        return text;
    }
    let verbs = if check { ("to add", "to change", "to remove") } else { ("added", "changed", "removed") };
    text.push_str(&format!("{} {}, {} {}, {} {}, {} the same\n", difference.added.len(), verbs.0, difference.changed.len(), verbs.1, difference.removed.len(), verbs.2, difference.same));
    if check {
        for path in difference.added.iter().chain(&difference.changed).chain(&difference.removed).take(10) {
            text.push_str(&format!("  {path}\n"));
        }
    }
    text
}
