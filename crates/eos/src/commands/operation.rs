//! Verbs that act once: `eos resize lvm database_volume +50G`. They come from the catalogue.

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_catalog::{Catalog, SettingType};
use eos_compile::intent::{self, OperationRequest, PlannedOperation, entry_text, operation_path};
use eos_model::{Diagnostic, Diagnostics, codes, nearest::nearest};
use eos_pillar::Change;
use indexmap::IndexMap;
use serde_json::json;

use super::{Call, catalog_here, parse, root, unknown_verb};
use crate::args::{self, component, spoken};
use crate::dry_run;
use crate::loaded::{Loaded, pin};
use crate::outcome::Outcome;
use crate::recording::{self, Message, Prepared};
use crate::run::flow::{self, Wanted};
use crate::views::wrap::below;

/// Kinds that know a verb.
pub fn kinds_with(catalog: &Catalog, verb: &str) -> Vec<String> {
    catalog
        .kinds_with_operations()
        .filter(|(_, found)| found.operations.contains_key(verb))
        .map(|(kind, _)| kind.to_owned())
        .collect()
}

/// Every verb of the catalogue.
pub fn verbs(catalog: &Catalog) -> Vec<String> {
    let mut all: Vec<String> = catalog
        .kinds_with_operations()
        .flat_map(|(_, found)| found.operations.keys().cloned().collect::<Vec<_>>())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Runs a verb that is not a command of eos's own.
pub fn run(call: &Call<'_>, verb: &str) -> Result<Outcome, Diagnostics> {
    let catalog = catalog_here(call.context)?;
    let kinds = kinds_with(&catalog, verb);
    if kinds.is_empty() {
        let unknown = unknown_verb(verb, &verbs(&catalog));
        return Err(match is_name(call, verb) {
            true => unknown.fix(format!("{verb} is a name: eos show {verb}")),
            false => unknown,
        }
        .into());
    }
    let outer = Command::new(verb.to_owned())
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("KIND");
    let Some(word) = spoken::bare_words(call.words).get(1).copied() else {
        let mut outer = outer;
        for kind in &kinds {
            outer = outer.subcommand(command(&catalog, kind, verb)?);
        }
        return parse(root(&[], Some(outer)), call, |_| Ok(Outcome::default()));
    };
    if !kinds.iter().any(|kind| kind == word) {
        let fix = nearest(word, kinds.iter().map(String::as_str)).map_or_else(
            || format!("eos {verb} {}", kinds.join(" | ")),
            |near| format!("did you mean eos {verb} {near}?"),
        );
        return Err(Diagnostic::error(codes::UNKNOWN_OPERATION, format!("{word} cannot be told to {verb}"))
            .fix(fix)
            .into());
    }
    let outer = outer.subcommand(command(&catalog, word, verb)?);
    let call = &call.told_by(&outer);
    parse(root(&[], Some(outer)), call, |matches| {
        let inner = matches.subcommand().and_then(|(_, verb_matches)| verb_matches.subcommand());
        match inner {
            Some((kind, matches)) => record(call, matches, kind, verb),
            None => Ok(Outcome::default()),
        }
    })
}

/// Whether the default environment has something of this name; what cannot be read has nothing.
fn is_name(call: &Call<'_>, word: &str) -> bool {
    let Ok(loaded) = Loaded::open(call.context) else { return false };
    let environment = loaded.environment(&loaded.estate.file.default_environment);
    environment.is_ok_and(|environment| environment.components.contains_key(word))
}

/// The arguments of an operation.
pub fn command(catalog: &Catalog, kind: &str, verb: &str) -> Result<Command, Diagnostics> {
    let found = catalog.component(kind)?;
    let operation = &found.operations[verb];
    let otherwise = if operation.everywhere { "every host" } else { "the only one" };
    let mut command = Command::new(kind.to_owned())
        .about(operation.help.clone())
        .after_help(format!("Example:\n  {}", operation.example));
    for (name, setting) in &operation.args {
        let mut arg = Arg::new(name.clone()).help(component::help(setting)).allow_hyphen_values(true);
        if setting.positional {
            arg = arg.value_name(name.to_uppercase()).required(setting.required);
        } else {
            arg =
                arg.long(component::flag(name)).value_name(setting.kind.as_str()).required(setting.required);
            if setting.kind == SettingType::Bool {
                arg = arg
                    .num_args(0..=1)
                    .default_missing_value("true")
                    .require_equals(true)
                    .action(ArgAction::Set);
            }
        }
        command = command.arg(arg);
    }
    Ok(command
        .arg(
            Arg::new("host")
                .long("host")
                .value_name("host")
                .help(format!("Declared host it acts on; {otherwise} if not given")),
        )
        .args(args::changing()))
}

/// Records an operation: applied once, never repeated by a later apply.
pub fn record(call: &Call<'_>, matches: &ArgMatches, kind: &str, verb: &str) -> Result<Outcome, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    let found = loaded.catalog.component(kind)?;
    let mut wrong = Diagnostics::new();
    let mut args = IndexMap::new();
    for (name, setting) in &found.operations[verb].args {
        let Ok(Some(text)) = matches.try_get_one::<String>(name) else { continue };
        let value = setting.read_text(text);
        match setting.check(&value) {
            Ok(()) => {
                args.insert(name.clone(), value);
            }
            Err(problem) => wrong.push(component::bad_value(
                &if setting.positional {
                    name.to_uppercase()
                } else {
                    format!("--{}", component::flag(name))
                },
                &problem,
                &value,
                setting,
            )),
        }
    }
    if wrong.has_errors() {
        return Err(wrong);
    }
    let request = OperationRequest {
        kind: kind.to_owned(),
        verb: verb.to_owned(),
        host: matches.get_one::<String>("host").cloned(),
        args,
        time: call.context.now,
        by: call.context.user.clone(),
    };
    let operations = intent::operation(&loaded.input(&environment), &request)?;
    let again: Vec<String> = operations
        .iter()
        .flat_map(|planned| &planned.same_as)
        .map(|id| format!("the same was said before, as {id}; this is another one, done as well"))
        .collect();
    let mut change = Change::default();
    for PlannedOperation { entry, .. } in &operations {
        let content = entry_text("operations", entry.name.as_str(), &entry.entry);
        change.write(operation_path(&env, &entry.name), content);
    }
    let mut lock = loaded.estate.lock.clone();
    pin(&loaded.catalog, &mut lock, &mut change, kind);
    let compiled = loaded.compile_with(&change, &env)?;
    let unknown = operations
        .iter()
        .flat_map(|planned| intent::unknown_on_host(&found, &env, &compiled.files, &planned.entry));
    let missing = intent::belongs_to_nothing(&found, &environment, &request);
    let unknown = loaded.in_environment(&env, Diagnostics(missing.into_iter().chain(unknown).collect()));
    let prepared = Prepared { change, compiled, made: Vec::new() };
    if matches.get_flag("dry-run") {
        let shown = dry_run::show(call.context, &loaded, &env, &prepared, &again);
        return Ok(shown.with_warnings(unknown));
    }
    let message = Message::new(call, matches, format!("{verb} {kind} in {env}"));
    if !args::stops_after_recording(call.context, matches)? {
        let change = prepared.change.clone();
        let mut wanted = Wanted::new(&env, &prepared.compiled, change, message, matches)?;
        wanted.warnings.extend(unknown);
        return flow::record_and_apply_as(call, &mut loaded, &prepared, wanted, &again);
    }
    let recorded = recording::commit(call.context, &mut loaded, &env, &prepared, message)?;
    let mut text = String::new();
    for PlannedOperation { entry, .. } in &operations {
        let host = entry.entry["host"].as_str().unwrap_or_default();
        let words =
            prepared.compiled.operation(&entry.name).map_or_else(String::new, |note| note.words.clone());
        let said = format!("Operation {} is recorded: {words} on host {host}, once.", entry.name);
        text.push_str(&below("", "", &said, call.context.width, 2));
    }
    for note in &again {
        text.push_str(&below("  ", "  ", note, call.context.width, 4));
    }
    for PlannedOperation { entry, .. } in operations.iter().filter(|planned| !planned.same_as.is_empty()) {
        text.push_str(&loaded.hint(&env, &format!("  a slip? eos delete {} takes it back\n", entry.name)));
    }
    text.push_str(&recorded.told(&loaded.hint(&env, "eos apply does it, once."), call.context.width));
    let document = |planned: &PlannedOperation| {
        let entry = &planned.entry;
        json!({"operation": entry.name, "entry": entry.entry, "same_as": planned.same_as})
    };
    let all: Vec<_> = operations.iter().map(document).collect();
    let mut told = all.first().cloned().unwrap_or_default();
    told["operations"] = json!(all);
    told["commit"] = json!(recorded.commit);
    told["applied"] = json!(false);
    Ok(Outcome::new(text, told).with_warnings(unknown))
}
