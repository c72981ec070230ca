//! What a shell is told: candidates for the last word, a line each, a tab before what it is.

use clap::{Arg, ArgMatches, Command};
use eos_catalog::component::Need;
use eos_catalog::{Catalog, Component, SettingType};
use eos_compile::intent;
use eos_engine::{Applied, Layout};
use eos_model::Diagnostics;
use eos_pillar::ComponentEntry;
use serde_json::json;

use super::{Call, VERBS, catalog_here, complete_operation, operation};
use crate::args::component::{self, flag};
use crate::args::spoken;
use crate::context::value_of;
use crate::loaded::Loaded;
use crate::outcome::Outcome;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command.arg(Arg::new("words").num_args(0..).last(true).allow_hyphen_values(true)))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let words: Vec<String> = matches.get_many::<String>("words").into_iter().flatten().cloned().collect();
    let Asked { before, typed, lead } = asked(words);
    let mut found = candidates(call, &before, &typed).unwrap_or_default();
    found.retain(|(word, _)| word.starts_with(&typed));
    found.iter_mut().for_each(|(word, _)| word.insert_str(0, &lead));
    let text: String = found.iter().map(|(word, what)| format!("{word}\t{what}\n")).collect();
    Ok(Outcome::new(text, json!({"candidates": found.iter().map(|(word, _)| word).collect::<Vec<_>>()})))
}

/// What is to be completed.
struct Asked {
    before: Vec<String>,
    typed: String,
    /// What stands before the value in the same word, and before every candidate: `--tier=`.
    lead: String,
}

/// A value behind `=` is completed like one behind a space. bash makes three words of `--tier=dev`, and replaces the last.
fn asked(words: Vec<String>) -> Asked {
    let mut before: Vec<String> = Vec::new();
    let mut is_split = false;
    for word in words {
        match before.last_mut() {
            Some(flag) if word == "=" && flag.starts_with("--") && !flag.contains('=') => {
                flag.push('=');
                is_split = true;
            }
            Some(flag) if is_split && flag.ends_with('=') => {
                flag.push_str(&word);
            }
            _ => {
                is_split = false;
                before.push(word);
            }
        }
    }
    let typed = before.pop().unwrap_or_default();
    match typed.split_once('=').filter(|(flag, _)| flag.starts_with("--")) {
        None => Asked { before, typed, lead: String::new() },
        Some((flag, value)) => {
            before.push(flag.to_owned());
            let lead = if is_split { String::new() } else { format!("{flag}=") };
            Asked { before, typed: value.to_owned(), lead }
        }
    }
}

pub type Candidates = Vec<(String, String)>;

fn candidates(call: &Call<'_>, before: &[String], typed: &str) -> Result<Candidates, Diagnostics> {
    let bare = spoken::bare_words(before);
    let pairs = |words: &[(&str, &str)]| {
        words.iter().map(|(word, what)| ((*word).to_owned(), (*what).to_owned())).collect::<Candidates>()
    };
    if before.last().is_some_and(|word| word == "--env" || word == "-e") {
        let loaded = Loaded::open(call.context)?;
        return Ok(loaded
            .estate
            .file
            .environments
            .keys()
            .map(|env| (env.to_string(), "environment".to_owned()))
            .collect());
    }
    if before.last().is_some_and(|word| word == "-C" || word == "--directory") {
        // The shell knows folders better.
        return Ok(Vec::new());
    }
    if before.last().is_some_and(|word| word == "--host") {
        return hosts(call, env_of(before));
    }
    if let Some(found) = told_by_arguments(call, before, typed) {
        return Ok(found);
    }
    match bare.as_slice() {
        [] => {
            let own = VERBS.iter().filter(|verb| !verb.hidden);
            let mut all: Candidates = own.map(|verb| (verb.name.to_owned(), verb.about.to_owned())).collect();
            let acting =
                operation::verbs(&catalog_here(call.context)?).into_iter().filter(|verb| verb != "update");
            all.extend(acting.map(|verb| (verb, "Act once".to_owned())));
            Ok(all)
        }
        ["completion"] => Ok(pairs(&[("bash", "Bash"), ("fish", "fish"), ("zsh", "Z shell")])),
        ["explain"] => Ok(eos_model::codes::PAGES
            .iter()
            .map(|page| (page.code.to_string(), page.title().to_owned()))
            .collect()),
        ["create"] => {
            let catalog = catalog_here(call.context)?;
            let acting = catalog.kinds_with_operations().filter(|(_, found)| found.only_acts());
            let acting: Vec<&str> = acting.map(|(kind, _)| kind).collect();
            let mut all: Candidates = catalog
                .kinds()
                .filter(|kind| kind.starts_with(typed) && !acting.contains(kind))
                .map(|kind| (kind.to_owned(), catalog.summary(kind)))
                .collect();
            all.push(("host".to_owned(), "A machine that may be configured".to_owned()));
            Ok(all)
        }
        ["create", kind, ..] => flags_or_values(call, kind, before, typed, false),
        ["update" | "delete", "host"] => hosts(call, env_of(before)),
        ["update", words @ ..] if !words.is_empty() => {
            // A name, or a kind and a name behind it.
            let all = names(call, env_of(before))?;
            let own = catalog_here(call.context)?.resolve(words[0]).map(str::to_owned).ok();
            let is_last = before.last().is_some_and(|last| last == words[0]);
            let of_kind =
                all.iter().filter(|(name, kind)| is_last && Some(kind) == own.as_ref() && name != words[0]);
            let mut found: Candidates = of_kind.cloned().collect();
            let named = words.iter().rev().find_map(|word| all.iter().find(|(name, _)| name == word));
            if let Some((_, kind)) = named {
                found.extend(flags_or_values(call, kind, before, typed, true)?);
            }
            Ok(found)
        }
        ["update" | "delete"] => {
            let mut all = names(call, env_of(before))?;
            all.push(("host".to_owned(), "A declared machine".to_owned()));
            if bare == ["delete"] {
                all.extend(operations(call, env_of(before))?);
            }
            Ok(all)
        }
        ["drift"] => {
            let mut all = pairs(&[
                ("accept", "ask for it"),
                ("ignore", "live with it"),
                ("revert", "bring it back"),
                ("watch", "look again and again"),
            ]);
            all.extend(names(call, env_of(before))?);
            Ok(all)
        }
        ["show" | "history" | "tofu"] | ["drift", "accept" | "ignore" | "revert" | "watch"] => {
            names(call, env_of(before))
        }
        ["show", word] => {
            let kind = catalog_here(call.context)?.resolve(word).map(str::to_owned).ok();
            let all = names(call, env_of(before))?;
            Ok(all.into_iter().filter(|(_, of)| Some(of) == kind.as_ref()).collect())
        }
        ["purge"] => kept(call, env_of(before)),
        ["catalog"] => Ok(pairs(&[
            ("check", "check kinds"),
            ("list", "all kinds"),
            ("new", "start a kind"),
            ("schema", "JSON Schema"),
            ("show", "one kind"),
        ])),
        ["catalog", "show" | "check"] => {
            Ok(catalog_here(call.context)?.kinds().map(|kind| (kind.to_owned(), "kind".to_owned())).collect())
        }
        ["secret", "show" | "set" | "rotate"] => secrets(call, env_of(before)),
        ["secret", "recipients"] => {
            Ok(pairs(&[("add", "let one read"), ("list", "who can read"), ("remove", "take one out")]))
        }
        ["secret"] => Ok(pairs(&[
            ("identity", "your public key"),
            ("list", "all secrets"),
            ("recipients", "who can read"),
            ("rotate", "new random value"),
            ("set", "new value"),
            ("show", "print one"),
        ])),
        ["tools", "install" | "path" | "verify"] => {
            let all = super::tools::tools(call.context)?.list();
            Ok(all.into_iter().map(|tool| (tool.name.to_string(), tool.range.to_string())).collect())
        }
        ["tools"] => Ok(pairs(&[
            ("install", "get tools"),
            ("list", "what there is"),
            ("path", "where one is"),
            ("verify", "hash again"),
        ])),
        ["list"] => Ok(pairs(&[("components", ""), ("hosts", ""), ("operations", "")])),
        [verb, kind, ..] => {
            let catalog = catalog_here(call.context)?;
            match operation::kinds_with(&catalog, verb).iter().any(|known| known == kind) {
                true => complete_operation::arguments(&catalog, [verb, kind], before, typed),
                false => Ok(Vec::new()),
            }
        }
        [verb] => {
            let catalog = catalog_here(call.context)?;
            Ok(operation::kinds_with(&catalog, verb)
                .into_iter()
                .map(|kind| (kind, "kind".to_owned()))
                .collect())
        }
    }
}

/// What the arguments of a command tell by themselves: the values that a flag takes, and the flags there are.
fn told_by_arguments(call: &Call<'_>, before: &[String], typed: &str) -> Option<Candidates> {
    let flag = before.last().and_then(|word| word.strip_prefix("--"));
    if flag.is_none() && !typed.starts_with('-') {
        return None;
    }
    let bare = spoken::bare_words(before);
    let verb = VERBS.iter().find(|verb| Some(&verb.name) == bare.first())?;
    let command = (verb.command)(Command::new(verb.name), &Call::new(call.context, before)).ok()?;
    let within = |command, word: &&str| Command::find_subcommand(command, word).unwrap_or(command);
    let command = bare.iter().skip(1).fold(&command, within);
    let values = command
        .get_arguments()
        .filter(|arg| flag.is_some() && arg.get_long() == flag)
        .flat_map(|arg| arg.get_possible_values())
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            (value.get_name().to_owned(), value.get_help().map(ToString::to_string).unwrap_or_default())
        })
        .collect::<Candidates>();
    if !values.is_empty() {
        return Some(values);
    }
    typed.starts_with('-').then(|| {
        let help = |arg: &Arg| arg.get_help().map(ToString::to_string).unwrap_or_default();
        let global = crate::args::global();
        let all = command.get_arguments().chain(&global).filter(|arg| !arg.is_hide_set());
        all.filter_map(|arg| Some((format!("--{}", arg.get_long()?), help(arg)))).collect()
    })
}

/// The environment that was named before, if one was.
fn env_of(before: &[String]) -> Option<&str> {
    value_of(before, &["-e", "--env"], |_| true)
}

fn secrets(call: &Call<'_>, env: Option<&str>) -> Result<Candidates, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let environment = loaded.environment(&loaded.env(env)?)?;
    Ok(super::secret::used(&environment)
        .into_iter()
        .map(|(reference, _)| {
            (format!("{}/{}", reference.name, reference.key), format!("version {}", reference.version))
        })
        .collect())
}

fn operations(call: &Call<'_>, env: Option<&str>) -> Result<Candidates, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let environment = loaded.environment(&loaded.env(env)?)?;
    Ok(environment
        .operations
        .values()
        .map(|operation| (operation.id.to_string(), format!("{} {}", operation.verb, operation.kind)))
        .collect())
}

/// Names that are gone and of which something is kept.
fn kept(call: &Call<'_>, env: Option<&str>) -> Result<Candidates, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(env)?;
    let environment = loaded.environment(&env)?;
    let mut all: Vec<String> = environment.kept.keys().map(ToString::to_string).collect();
    let layout = Layout::new(loaded.estate.root.clone());
    if let Ok((records, _)) = crate::run::store(&loaded.estate, &layout) {
        let applied = Applied::new(records.as_ref()).kept(&env)?;
        all.extend(applied.keys().map(ToString::to_string));
    }
    all.retain(|name| !environment.components.contains_key(name.as_str()));
    all.sort();
    all.dedup();
    Ok(all.into_iter().map(|name| (name, "kept".to_owned())).collect())
}

fn names(call: &Call<'_>, env: Option<&str>) -> Result<Candidates, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(env)?;
    Ok(loaded
        .environment(&env)?
        .components
        .values()
        .map(|entry| (entry.name.to_string(), entry.kind.clone()))
        .collect())
}

/// Those of them that offer something, with the features that are on.
fn offering(call: &Call<'_>, env: Option<&str>, offer: &str) -> Result<Candidates, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let environment = loaded.environment(&loaded.env(env)?)?;
    let offers = |entry: &&ComponentEntry| {
        intent::with_features(&loaded.catalog, entry).is_ok_and(|found| found.offers.contains_key(offer))
    };
    let found = environment.components.values().filter(offers);
    Ok(found.map(|entry| (entry.name.to_string(), entry.kind.clone())).collect())
}

/// Names for a list setting: where each of them is to meet a need, those that do and the kind that can be made for it.
fn named(
    call: &Call<'_>,
    catalog: &Catalog,
    base: &Component,
    last: &str,
    env: Option<&str>,
) -> Result<Candidates, Diagnostics> {
    let mut all = names(call, env)?;
    let every = base.features.keys().cloned().collect();
    let widest = catalog.variant(&base.kind, None, &every)?;
    let meant = |need: &&Need| need.named_by().is_some_and(|setting| flag(setting) == last);
    if let Some(need) = widest.needs.values().find(meant) {
        all = offering(call, env, &need.offer)?;
        let made = need.create.iter().filter(|kind| all.iter().all(|(name, _)| name != *kind));
        let made: Candidates = made.map(|kind| (kind.clone(), "made along".to_owned())).collect();
        all.extend(made);
    }
    Ok(all)
}

/// Candidates for the next element of a list of which some may be typed: `a,` is answered with `a,b`.
fn further(found: Candidates, typed: &str) -> Candidates {
    let Some((before, _)) = typed.rsplit_once(',') else { return found };
    let is_new = |(word, _): &(String, String)| before.split(',').all(|there| there != word);
    found.into_iter().filter(is_new).map(|(word, what)| (format!("{before},{word}"), what)).collect()
}

fn flags_or_values(
    call: &Call<'_>,
    word: &str,
    before: &[String],
    typed: &str,
    updating: bool,
) -> Result<Candidates, Diagnostics> {
    let catalog = catalog_here(call.context)?;
    let Ok(kind) = catalog.resolve(word) else { return Ok(Vec::new()) };
    let (widest, base) = (component::widest(&catalog, kind)?, catalog.component(kind)?);
    if let Some(last) = before.last().and_then(|word| word.strip_prefix("--")) {
        if let Some((_, setting)) = widest.settings.iter().find(|(name, _)| flag(name) == last) {
            let is = |kind: SettingType| setting.kind == kind || setting.of == Some(kind);
            let found = match setting.kind {
                SettingType::Enum => {
                    setting.values.iter().map(|value| (value.clone(), setting.help.clone())).collect()
                }
                _ if is(SettingType::Name) => named(call, &catalog, &base, last, env_of(before))?,
                _ if is(SettingType::Host) => hosts(call, env_of(before))?,
                _ => setting
                    .default
                    .iter()
                    .chain(&setting.example)
                    .map(|value| (component::shown(value), setting.help.clone()))
                    .filter(|(value, _)| !value.is_empty())
                    .collect(),
            };
            return Ok(if setting.kind == SettingType::List { further(found, typed) } else { found });
        }
        if let Some((_, need)) = widest.needs.iter().find(|(name, _)| flag(name) == last) {
            return offering(call, env_of(before), &need.offer);
        }
    }
    if !typed.is_empty() {
        return Ok(Vec::new());
    }
    let args = component::flags(&widest, &base, updating);
    let long = |arg: &clap::Arg| {
        arg.get_long().map(|long| {
            (format!("--{long}"), arg.get_help().map(|help| help.to_string()).unwrap_or_default())
        })
    };
    Ok(args.iter().chain(&crate::args::changing()).filter_map(long).collect())
}

fn hosts(call: &Call<'_>, env: Option<&str>) -> Result<Candidates, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(env)?;
    Ok(loaded
        .environment(&env)?
        .hosts
        .values()
        .filter(|host| host.environment == env.as_str())
        .map(|host| (host.name.to_string(), host.address.clone()))
        .collect())
}
