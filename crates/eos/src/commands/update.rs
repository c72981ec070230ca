//! `eos update`: change settings, features or providers of something that is there.

use clap::{Arg, ArgMatches, Command};
use eos_catalog::Catalog;
use eos_compile::intent;
use eos_model::Diagnostics;
use eos_model::article::with_article;

use super::create::{self, Intent};
use super::{Call, host, operation};
use crate::args::component::Said;
use crate::args::{self, component, spoken};
use crate::context::value_of;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{self, Drafted, Message};
use crate::run;

pub fn command(command: Command, call: &Call<'_>) -> Result<Command, Diagnostics> {
    let command = command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("NAME")
        .override_usage("eos update <NAME> [FLAGS]\n       eos update <KIND> <NAME> [FLAGS]");
    let Some(word) = spoken::bare_words(call.words).get(1).copied() else {
        return Ok(command.subcommand(Command::new("name").hide(true)).after_help("Examples:\n  eos update grafana --port 3001\n  eos update grafana --unset port\n  eos update nextcloud --no-sso\n  eos update wazuh-agents"));
    };
    if word == "host" {
        return Ok(command.subcommand(host::update_command()));
    }
    let loaded = Loaded::open(call.context)?;
    let is_known = |env: &str| loaded.estate.file.environments.contains_key(env);
    let env = loaded.env(value_of(call.words, &["-e", "--env"], is_known))?;
    let environment = loaded.environment(&env)?;
    if is_operation(&loaded.catalog, word) {
        return Ok(command.subcommand(operation::command(&loaded.catalog, word, "update")?));
    }
    // `eos update postgres crm` reads like create: kind and name.
    let second = name_behind(call.words, word).filter(|_| loaded.catalog.resolve(word).is_ok());
    let entry = match second {
        Some(name) => intent::of_kind(&loaded.input(&environment), word, name, "update")?,
        None => match environment.components.get(word) {
            Some(entry) => entry,
            None => return Err(loaded.unknown_name(&environment, word).into()),
        },
    };
    let (widest, base) =
        (component::widest(&loaded.catalog, &entry.kind)?, loaded.catalog.component(&entry.kind)?);
    // Behind flags a name is only seen once they are read; they are the same for all of a kind.
    let is_kind = loaded.catalog.resolve(word).is_ok_and(|kind| kind == entry.kind);
    let name = is_kind.then(|| Arg::new("NAME").hide(second.is_none()).help("Its name"));
    Ok(command.subcommand(
        Command::new(word.to_owned())
            .about(format!("Change {}, {}", entry.name, with_article(&entry.kind)))
            .args(name)
            .args(component::flags(&widest, &base, true))
            .args(args::changing()),
    ))
}

/// The word right behind another one: further on it may be the value of a flag.
fn name_behind<'w>(words: &'w [String], word: &str) -> Option<&'w str> {
    let verb = words.iter().position(|one| one == "update")?;
    let at = verb + 1 + words[verb + 1..].iter().position(|one| one == word)?;
    words.get(at + 1).map(String::as_str).filter(|next| !next.starts_with('-'))
}

/// The name that is meant: the one behind its kind, or the only one.
fn named<'m>(word: &'m str, matches: &'m ArgMatches) -> &'m str {
    matches.try_get_one::<String>("NAME").ok().flatten().map_or(word, String::as_str)
}

/// `eos update wazuh-agents`: a kind that can itself be told to update.
fn is_operation(catalog: &Catalog, word: &str) -> bool {
    catalog.component(word).is_ok_and(|found| found.operations.contains_key("update"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Outcome::default()) };
    if name == "host" {
        return host::update(call, matches);
    }
    let asked = matches.get_one::<String>("env").map(String::as_str);
    let outside = super::catalog_here(call.context)?;
    if is_operation(&outside, name) {
        return operation::record(call, matches, name, "update");
    }
    let (word, name) = (name, named(name, matches));
    let kind = {
        let loaded = Loaded::open(call.context)?;
        let environment = loaded.environment(&loaded.env(asked)?)?;
        match environment.components.get(name) {
            Some(_) if word != name => {
                intent::of_kind(&loaded.input(&environment), word, name, "update")?.kind.clone()
            }
            Some(entry) => entry.kind.clone(),
            None => return Err(loaded.unknown_name(&environment, name).into()),
        }
    };
    let (widest, base) = (component::widest(&outside, &kind)?, outside.component(&kind)?);
    let mut said = component::read(matches, &widest, &base, &kind, name, &call.line);
    let wrong = std::mem::take(&mut said.wrong);
    let with_wrong = |found| Said::with_wrong(&wrong, found);
    let mut loaded = Loaded::open_for_change(call.context).map_err(with_wrong)?;
    let env = loaded.env(asked)?;
    let environment = loaded.environment(&env)?;
    said.request.kept = loaded.secrets()?;
    said.request.never_applied = said.request.meets_what_stays(&*component::every(&outside, &kind)?)
        && (run::never_applied(&loaded.estate, &env, name)
            || run::holds_nothing(call.context, &loaded, &environment, name));
    let others = loaded.others(&loaded.tree, &env);
    let planned = intent::update(&loaded.input(&environment).among(&others), &said.request);
    let mut planned = planned.map_err(with_wrong)?;
    if wrong.has_errors() {
        return Err(wrong);
    }
    planned.notes = loaded.hints(&env, planned.notes);
    let mut secrets = said.secrets;
    let message = Message::new(call, matches, format!("update {} in {env}", recording::what(&kind, name)));
    let prepared = match recording::prepare(&loaded, &env, &environment, &planned, &mut secrets)? {
        Drafted::Compiles(prepared) => prepared,
        Drafted::Mends(mending) => {
            let mended = mending.record(call, matches, &mut loaded, &env, message)?;
            return Ok(mended.with_warnings(said.warnings));
        }
    };
    let intent =
        Intent { planned: &planned, prepared: &prepared, message, adopt: None, warnings: said.warnings };
    create::record(call, matches, &mut loaded, &env, intent)
}

/// What is wrong with the settings' values.
pub fn wrong(call: &Call<'_>, matches: &ArgMatches) -> Diagnostics {
    let Some((name, matches)) = matches.subcommand() else { return Diagnostics::new() };
    if name == "host" {
        return host::wrong(matches);
    }
    let name = named(name, matches);
    let widest = Loaded::open(call.context).and_then(|loaded| {
        let env = loaded.env(matches.try_get_one::<String>("env").ok().flatten().map(String::as_str))?;
        let environment = loaded.environment(&env)?;
        match environment.components.get(name) {
            Some(entry) => component::widest(&loaded.catalog, &entry.kind),
            None => Err(Diagnostics::new()),
        }
    });
    widest.map(|widest| component::wrong_values(matches, &widest)).unwrap_or_default()
}
