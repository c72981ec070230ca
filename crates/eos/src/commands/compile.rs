//! `eos compile`: the pillar to build/, or the question whether build/ is what the pillar says.

use std::collections::BTreeMap;
use std::thread;

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_model::{Diagnostics, EnvName};
use serde_json::json;

use super::Call;
use crate::build_folder::{self, Difference, Wanted};
use crate::build_stamp;
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .help("Write nothing; exit 2 when build/ is not what the pillar says, 4 when vendor/catalog is not what is pinned"),
        )
        .after_help(
            "build/ is not committed: a clone has none, and --check exits 2 there. In CI, eos compile tells whether the pillar \
             compiles; eos compile --check is for where build/ is kept, such as a hook before a commit.\n\n\
             Examples:\n  eos compile                in CI: exit 3 and every mistake when it does not compile\n  \
             eos compile --env staging\n  eos compile --check        is build/ what the pillar says?",
        ))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let check = matches.get_flag("check");
    let loaded = if check { Loaded::open(call.context)? } else { Loaded::open_for_build(call.context)? };
    let environments: Vec<EnvName> = match matches.get_one::<String>("env") {
        Some(env) => vec![loaded.env(Some(env))?],
        None => loaded.estate.file.environments.keys().cloned().collect(),
    };
    let mut warnings = Diagnostics::new();
    let mut found = if check { loaded.changed_copies() } else { Diagnostics::new() };
    let mut results = Vec::new();
    let inputs = if check { String::new() } else { loaded.inputs_digest() };
    // By name, whichever way each of them came about.
    let mut lines = BTreeMap::new();
    let root = &loaded.estate.root;
    let stamps: Vec<(EnvName, String)> =
        environments.into_iter().map(|env| (env.clone(), build_stamp::read(root, &env))).collect();
    for (env, stamp) in &stamps {
        // Machines get the whole answer; a person who changed nothing need not wait for it.
        if !check
            && !call.context.json
            && let Some(units) = build_folder::is_current(root, env, &inputs)
        {
            lines.insert(env.clone(), line(env, units, &Difference::default(), check));
            continue;
        }
        let (compiled, before) = thread::scope(|scope| {
            let looking = scope.spawn(|| build_folder::untouched(root, stamp));
            let compiled = loaded.compile_here(env);
            (compiled, looking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        match compiled {
            Ok(compiled) => {
                warnings.extend(compiled.warnings.clone());
                results.push((env, compiled, before));
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    if found.has_errors() {
        // What is wrong with the estate is wrong in each environment: it is said once.
        let mut said = Vec::new();
        for diagnostic in found.0 {
            if !said.contains(&diagnostic) {
                said.push(diagnostic);
            }
        }
        found = Diagnostics(said);
        return Err(found);
    }
    // Said where something is compiled, and no reason to compile it again.
    if !results.is_empty() {
        warnings.extend(loaded.in_place(loaded.catalog.kinds()));
    }
    let mut documents = Vec::new();
    let mut differs = false;
    // With one environment only, nobody knows what the others need.
    let strays = if matches.get_one::<String>("env").is_none() {
        let all: Vec<EnvName> = loaded.estate.file.environments.keys().cloned().collect();
        build_folder::strays(root, &all, || {
            let compiled = results.iter().flat_map(|(_, compiled, _)| compiled.files.keys().cloned());
            let skipped = lines.keys().flat_map(|env| build_folder::known_files(root, env));
            compiled.chain(skipped).collect()
        })
    } else {
        Vec::new()
    };
    for (env, compiled, before) in &results {
        // Warnings are to be said again next time, so such a compilation is never skipped.
        let inputs = if compiled.warnings.is_empty() { inputs.clone() } else { String::new() };
        let wanted = Wanted { env, files: &compiled.files, units: compiled.order.len(), inputs };
        let difference = if check {
            build_folder::compare_with(root, &wanted, before).0
        } else {
            build_folder::sync_stamped(root, &wanted, before)?
        };
        differs |= !difference.is_empty();
        lines.insert((*env).clone(), line(env, compiled.order.len(), &difference, check));
        documents.push(json!({"environment": env, "units": compiled.order, "added": difference.added, "changed": difference.changed, "removed": difference.removed, "same": difference.same}));
    }
    differs |= !strays.is_empty();
    if !check {
        build_folder::remove(root, &strays)?;
    }
    let exit = if check && differs { exit_code::CHANGES } else { 0 };
    let mut text: String = lines.into_values().collect();
    if !strays.is_empty() {
        let verb = if check { "to remove" } else { "removed" };
        text.push_str(&format!("of no environment any more: {} {verb}\n", strays.len()));
        text.push_str(&paths(strays.iter()));
    }
    // The process is about to end, and taking apart what a thousand units are made of takes longer than that.
    std::mem::forget((results, loaded));
    Ok(Outcome::new(text, json!({"check": check, "environments": documents, "strays": strays}))
        .with_warnings(warnings)
        .exits(exit))
}

fn line(env: &EnvName, units: usize, difference: &Difference, check: bool) -> String {
    let mut text = format!("{env}: {units} unit{}, ", if units == 1 { "" } else { "s" });
    if difference.is_empty() {
        text.push_str("build/ is up to date\n");
        return text;
    }
    let verbs = if check { ("to add", "to change", "to remove") } else { ("added", "changed", "removed") };
    text.push_str(&format!(
        "{} {}, {} {}, {} {}, {} the same\n",
        difference.added.len(),
        verbs.0,
        difference.changed.len(),
        verbs.1,
        difference.removed.len(),
        verbs.2,
        difference.same
    ));
    if check {
        text.push_str(&paths(difference.added.iter().chain(&difference.changed).chain(&difference.removed)));
    }
    text
}

/// The first few paths, a line each.
fn paths<'a>(all: impl Iterator<Item = &'a String>) -> String {
    const SHOWN: usize = 10;
    let mut text = String::new();
    let all: Vec<&String> = all.collect();
    for path in all.iter().take(SHOWN) {
        text.push_str(&format!("  {path}\n"));
    }
    if all.len() > SHOWN {
        text.push_str(&format!("  … and {} more\n", all.len() - SHOWN));
    }
    text
}
