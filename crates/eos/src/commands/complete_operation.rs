//! Completion of operations: the arguments that the catalogue gives a verb.

use clap::Arg;
use eos_catalog::{Catalog, Setting, SettingType};
use eos_model::Diagnostics;

use super::complete::Candidates;
use super::operation;
use crate::args::component::{flag, shown};

/// What may follow `eos <verb> <kind> …`.
pub fn arguments(
    catalog: &Catalog,
    [verb, kind]: [&str; 2],
    before: &[String],
    typed: &str,
) -> Result<Candidates, Diagnostics> {
    let found = catalog.component(kind)?;
    let command = operation::command(catalog, kind, verb)?;
    let args = &found.operations[verb].args;
    let global = crate::args::global();
    let known: Vec<&Arg> = command.get_arguments().chain(&global).collect();
    let of_flag = |word: &str| -> Option<&&Arg> {
        let long = word.strip_prefix("--");
        let short = word.strip_prefix('-').and_then(|rest| rest.chars().next());
        known.iter().find(|arg| {
            (long.is_some() && arg.get_long() == long) || (short.is_some() && arg.get_short() == short)
        })
    };
    let waits = |word: &str| {
        of_flag(word).is_some_and(|arg| arg.get_action().takes_values() && !arg.is_require_equals_set())
    };
    if let Some(last) = before.last().filter(|last| waits(last)) {
        let own = args
            .iter()
            .find(|(name, setting)| !setting.positional && last.strip_prefix("--") == Some(&flag(name)));
        return Ok(own.map(|(_, setting)| values(setting)).unwrap_or_default());
    }
    let mut said = 0;
    let mut words =
        before.iter().skip_while(|word| *word != verb).skip(1).skip_while(|word| *word != kind).skip(1);
    while let Some(word) = words.next() {
        if waits(word) {
            words.next();
        } else if !word.starts_with('-') {
            said += 1;
        }
    }
    let next = args.values().filter(|setting| setting.positional).nth(said);
    if let Some(setting) = next.filter(|_| !typed.starts_with('-')) {
        return Ok(values(setting));
    }
    let help = |arg: &Arg| arg.get_help().map(ToString::to_string).unwrap_or_default();
    let shown = known.iter().filter(|arg| !arg.is_hide_set());
    Ok(shown.filter_map(|arg| Some((format!("--{}", arg.get_long()?), help(arg)))).collect())
}

/// What an argument may be, or what it is like.
fn values(setting: &Setting) -> Candidates {
    let all: Vec<String> = match setting.kind {
        SettingType::Enum => setting.values.clone(),
        _ => setting.default.iter().chain(&setting.example).map(shown).collect(),
    };
    all.into_iter().filter(|value| !value.is_empty()).map(|value| (value, setting.help.clone())).collect()
}
