//! Flags from a component's schema: settings, needs and features.

use std::collections::BTreeMap;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches};
use eos_catalog::component::Need;
pub use eos_catalog::flags::flag;
use eos_catalog::password_in_address::PASSWORD_IN_ADDRESS;
use eos_catalog::{Catalog, Component, Setting, SettingType};
use eos_compile::intent::Request;
use eos_model::{Diagnostic, Diagnostics, codes};
use eos_secrets::Secret;
use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::args::{spoken, weak_secret};
use crate::views::prompt::{self, Part};

/// The component with every flag's feature on: a feature may bring settings.
pub fn widest(catalog: &Catalog, kind: &str) -> Result<std::sync::Arc<Component>, Diagnostics> {
    let base = catalog.component(kind)?;
    let all = base
        .features
        .iter()
        .filter(|(_, feature)| feature.when.is_none())
        .map(|(name, _)| name.clone())
        .collect();
    let widest = catalog.variant(kind, None, &all)?;
    eos_catalog::check::flags(catalog, kind, &widest)?;
    Ok(widest)
}

/// The component with every feature on, those too that are on by themselves.
pub fn every(catalog: &Catalog, kind: &str) -> Result<std::sync::Arc<Component>, Diagnostics> {
    let all = catalog.component(kind)?.features.keys().cloned().collect();
    catalog.variant(kind, None, &all)
}

/// Help for a setting: what it is, its type, range, default and an example.
pub fn help(setting: &Setting) -> String {
    let mut notes = Vec::new();
    let show = shown;
    match setting.kind {
        SettingType::Enum => notes.push(format!("one of {}", setting.values.join(", "))),
        SettingType::Secret => notes.push(if setting.generate == Some(0) {
            "`-` reads it from stdin or asks".to_owned()
        } else {
            "generated if not given; `-` reads it from stdin or asks".to_owned()
        }),
        _ => {}
    }
    match (&setting.min, &setting.max) {
        (Some(min), Some(max)) => notes.push(format!("{} to {}", show(min), show(max))),
        (Some(min), None) => notes.push(format!("at least {}", show(min))),
        (None, Some(max)) => notes.push(format!("at most {}", show(max))),
        (None, None) => {}
    }
    if let Some(default) = setting.default.as_ref().map(show).filter(|text| !text.is_empty()) {
        notes.push(format!("default {default}"));
    }
    if let Some(example) = setting
        .example
        .as_ref()
        .map(show)
        .filter(|text| setting.default.as_ref().map(show).as_ref() != Some(text))
    {
        notes.push(format!("for example {example}"));
    }
    if setting.required {
        notes.push("required".to_owned());
    }
    if setting.fixed || setting.first_start.is_some() {
        notes.push("cannot be changed later".to_owned());
    }
    if notes.is_empty() { setting.help.clone() } else { format!("{} [{}]", setting.help, notes.join("; ")) }
}

/// The message about a value that does not fit, with one that would.
pub fn bad_value(what: &str, problem: &str, given: &Json, setting: &Setting) -> Diagnostic {
    if problem == PASSWORD_IN_ADDRESS {
        return Diagnostic::error(codes::SECRET_IN_CLEAR, format!("{what}: {problem}"))
            .why("a setting is in the pillar, its history and what is compiled, for everybody to read")
            .fix(format!(
                "nothing was recorded; give {what} without the password: --help shows what takes that, a secret or a file"
            ));
    }
    let with_unit = given
        .as_str()
        .map(|text| Json::from(format!("{text}G")))
        .filter(|value| setting.kind == SettingType::Size && setting.check(value).is_ok());
    let fits = with_unit
        .or_else(|| setting.example.clone())
        .or_else(|| setting.default.clone())
        .or_else(|| setting.values.first().map(|value| Json::from(value.as_str())));
    let fix = match fits.as_ref().map(shown).filter(|text| !text.is_empty()) {
        Some(fits) if setting.positional => format!("{fits}, for example"),
        Some(fits) => format!("{what} {fits}, for example"),
        None => format!("give {what} another value"),
    };
    Diagnostic::error(codes::BAD_VALUE, format!("{what}: {problem}"))
        .why(format!("{what} is: {}", help(setting)))
        .fix(fix)
}

/// A value as one types it.
pub fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items
            .iter()
            .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join(","),
        other => other.to_string(),
    }
}

/// All flags of a component, for `create` and `update`.
pub fn flags(component: &Component, base: &Component, updating: bool) -> Vec<Arg> {
    let mut args = Vec::new();
    let named = |name: &str| Arg::new(name.to_owned()).long(flag(name));
    for (name, setting) in &component.settings {
        let mut arg =
            named(name).value_name(setting.kind.as_str()).help(help(setting)).help_heading("Settings");
        arg = match setting.kind {
            SettingType::Bool => arg.num_args(0..=1).default_missing_value("true").require_equals(true),
            SettingType::List => arg.action(ArgAction::Append),
            _ => arg,
        };
        args.push(arg.allow_hyphen_values(true));
    }
    for (name, feature) in base.features.iter().filter(|(_, feature)| feature.when.is_none()) {
        args.push(named(name).action(ArgAction::SetTrue).help(feature.help.clone()).help_heading("Features"));
        if updating {
            let off = format!("no-{name}");
            args.push(
                Arg::new(off.clone())
                    .long(off)
                    .action(ArgAction::SetTrue)
                    .help(format!("Turn off: {}", feature.help))
                    .help_heading("Features"),
            );
        }
    }
    for (name, need) in component.needs.iter().filter(|(_, need)| need.offer != "*") {
        let soft = if need.soft { "; used when it is there" } else { "" };
        let text = format!("Who offers {}, for {}{soft}", need.offer, need.help);
        args.push(named(name).value_name("name").help(text).help_heading("Needs"));
    }
    args.extend(common(base));
    let (words, help): (Vec<PossibleValue>, &str) = if updating {
        let words = unsettable(component, base).map(|name| PossibleValue::new(flag(name)));
        // One that cannot be given up is read, to be told why, and not offered.
        let hard = component.needs.iter().filter(|(_, need)| !need.soft && need.offer != "*");
        let hard = hard.map(|(name, _)| PossibleValue::new(flag(name)).hide(true));
        (
            words.chain(hard).collect(),
            "Back to the default: a setting's name, such as port, or a need it can do without; repeat it for several",
        )
    } else {
        (
            soft_needs(component).map(|name| PossibleValue::new(flag(name))).collect(),
            "Do without a need although somebody offers it; repeat it for several",
        )
    };
    if !words.is_empty() {
        args.push(
            Arg::new("unset")
                .long("unset")
                .value_name(if updating { "setting" } else { "need" })
                .action(ArgAction::Append)
                .value_parser(clap::builder::PossibleValuesParser::new(words))
                .hide_possible_values(updating)
                .help(help)
                .help_heading((!updating).then_some("Needs")),
        );
    }
    args
}

/// What has a default to go back to: settings that are neither secret nor required, and sizes of tasks; and soft needs,
/// which can be given up.
fn unsettable<'c>(component: &'c Component, base: &'c Component) -> impl Iterator<Item = &'c str> {
    let settings = component.settings.iter();
    let own = settings.filter(|(_, setting)| setting.kind != SettingType::Secret && !setting.required);
    let sizes: &[&str] = if base.tasks.is_empty() { &[] } else { &["tier", "cpu", "memory", "replicas"] };
    let sizes = sizes.iter().copied().filter(|size| *size != "replicas" || base.stateless);
    own.map(|(name, _)| name.as_str()).chain(sizes).chain(soft_needs(component))
}

/// The needs that it can do without.
fn soft_needs(component: &Component) -> impl Iterator<Item = &str> {
    let soft = |need: &Need| need.soft && need.each.is_none() && need.offer != "*";
    component.needs.iter().filter(move |(_, need)| soft(need)).map(|(name, _)| name.as_str())
}

fn common(base: &Component) -> Vec<Arg> {
    let text = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("text")
            .value_parser(clap::builder::NonEmptyStringValueParser::new())
            .help(help)
            .help_heading("Placement and size")
    };
    let number = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("number")
            .help(help)
            .value_parser(whole_number)
            .help_heading("Placement and size")
    };
    let mut args = vec![text("host", "Declared host it is placed on; the least loaded if not given")];
    let runtimes: Vec<&'static str> = eos_catalog::check::runtimes(base).into_iter().flatten().collect();
    if runtimes.is_empty() {
        return args;
    }
    args.push(
        text("runtime", "How it runs")
            .value_name("runtime")
            .value_parser(clap::builder::PossibleValuesParser::new(runtimes)),
    );
    args.push(
        text("tier", "Size of its tasks; the environment's if not given").value_name("tier").value_parser([
            "dev",
            "staging",
            "production",
        ]),
    );
    args.push(number("cpu", "MHz"));
    args.push(number("memory", "MiB"));
    if base.runtimes.container.is_some() {
        args.push(text("version", "Image tag; the catalogue's checked one if not given"));
    }
    if base.runtimes.host.is_some() {
        args.push(text("binary", "Program to run in place of the package's (runtime host)"));
    }
    if base.stateless {
        args.push(number("replicas", "How many of it"));
    }
    args
}

fn whole_number(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(number) if number > 0 => Ok(number),
        Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => {
            Err(format!("that is more than {}, the highest there is", u32::MAX))
        }
        _ => Err("a whole number above 0 is wanted, without a unit, such as 512".to_owned()),
    }
}

/// What the flags said, as a request, with the secrets apart.
pub struct Said {
    pub request: Request,
    pub secrets: BTreeMap<String, Secret>,
    pub warnings: Diagnostics,
    /// What does not fit, and is no part of the request: it is told with what is wrong about the estate.
    pub wrong: Diagnostics,
}

impl Said {
    /// What was found, behind what was wrong before the estate was looked at.
    pub fn with_wrong(wrong: &Diagnostics, found: Diagnostics) -> Diagnostics {
        let mut all = wrong.clone();
        all.extend(found);
        all
    }
}

/// Values that do not fit their settings. Secrets are not looked at: one may have to be asked for.
pub fn wrong_values(matches: &ArgMatches, component: &Component) -> Diagnostics {
    Diagnostics(wrong_settings(matches, component).into_values().collect())
}

/// The same by their settings.
fn wrong_settings(matches: &ArgMatches, component: &Component) -> IndexMap<String, Diagnostic> {
    let mut found = IndexMap::new();
    for (name, setting) in
        component.settings.iter().filter(|(_, setting)| setting.kind != SettingType::Secret)
    {
        let Ok(Some(values)) = matches.try_get_many::<String>(name) else { continue };
        let value = setting.read_text(&values.map(String::as_str).collect::<Vec<_>>().join(","));
        if let Err(problem) = setting.check(&value) {
            found.insert(name.clone(), bad_value(&format!("--{}", flag(name)), &problem, &value, setting));
        }
    }
    found
}

pub fn read(
    matches: &ArgMatches,
    component: &Component,
    base: &Component,
    kind: &str,
    name: &str,
    command: &str,
) -> Said {
    let wrong = wrong_settings(matches, component);
    let mut said = Said {
        request: Request { kind: kind.to_owned(), name: name.to_owned(), ..Request::default() },
        secrets: BTreeMap::new(),
        warnings: Diagnostics::new(),
        wrong: Diagnostics::new(),
    };
    said.request.wrong = wrong.keys().cloned().collect();
    let mut found = Diagnostics(wrong.into_values().collect());
    let dash =
        |name: &String| matches.try_get_one::<String>(name).ok().flatten().is_some_and(|value| value == "-");
    let is_secret = |setting: &Setting| setting.kind == SettingType::Secret;
    let is_sound = |name: &String| !said.request.wrong.contains(name);
    let plain = component.settings.iter().filter(|(name, setting)| !is_secret(setting) && is_sound(name));
    for (name, setting) in plain.collect::<Vec<_>>() {
        let Ok(Some(values)) = matches.try_get_many::<String>(name) else { continue };
        let values: Vec<&str> = values.map(String::as_str).collect();
        said.request.settings.insert(name.clone(), setting.read_text(&values.join(",")));
    }
    // As they were typed: so they come on stdin.
    let secrets = component.settings.iter().filter(|(_, setting)| is_secret(setting)).map(|(name, _)| name);
    let given = secrets.filter(|name| matches!(matches.try_get_one::<String>(name), Ok(Some(_))));
    let mut given: Vec<&String> = given.collect();
    given.sort_by_key(|name| matches.index_of(name));
    let asked: Vec<&String> = given.iter().copied().filter(|name| dash(name)).collect();
    for name in given {
        let part = match asked.as_slice() {
            [_] => Part::Whole,
            [.., last] if *last == name => Part::Last,
            _ => Part::Next,
        };
        let value = matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
        match secret(command, name, value, part, &mut said.warnings) {
            Ok(secret) => {
                let what = format!("--{}", flag(name));
                let weak = weak_secret::refuse(&what, &secret, kind, &said.request.name);
                found.0.extend(weak.err());
                said.secrets.insert(name.clone(), secret);
                said.request.secrets.insert(name.clone());
            }
            Err(diagnostic) => {
                found.push(diagnostic);
                said.request.wrong.insert(name.clone());
            }
        }
    }
    for (name, _) in base.features.iter().filter(|(_, feature)| feature.when.is_none()) {
        if matches.get_flag(name) {
            said.request.features.insert(name.clone());
        }
        if matches.try_get_one::<bool>(&format!("no-{name}")).ok().flatten().copied().unwrap_or(false) {
            said.request.without.insert(name.clone());
        }
        if said.request.features.contains(name) && said.request.without.contains(name) {
            let message = format!("--{name} and --no-{name} contradict each other");
            found.push(Diagnostic::error(codes::USAGE, message).fix("leave out one of them"));
        }
    }
    for need in component.needs.keys() {
        if let Ok(Some(provider)) = matches.try_get_one::<String>(need) {
            said.request.needs.insert(need.clone(), provider.clone());
        }
    }
    for key in ["host", "runtime", "version", "tier", "binary"] {
        if let Ok(Some(value)) = matches.try_get_one::<String>(key) {
            said.request.common.insert(key.to_owned(), Json::from(value.as_str()));
        }
    }
    for key in ["cpu", "memory", "replicas"] {
        if let Ok(Some(value)) = matches.try_get_one::<u32>(key) {
            said.request.common.insert(key.to_owned(), Json::from(*value));
        }
    }
    for word in matches.try_get_many::<String>("unset").ok().flatten().into_iter().flatten() {
        let hard = component.needs.keys().map(String::as_str);
        let request = &said.request;
        match unsettable(component, base).chain(hard).find(|name| flag(name) == *word) {
            Some(name)
                if request.settings.contains_key(name)
                    || request.common.contains_key(name)
                    || request.needs.contains_key(name) =>
            {
                let message = format!("--{word} and --unset {word} contradict each other");
                found.push(Diagnostic::error(codes::USAGE, message).fix("leave out one of them"));
            }
            Some(name) => {
                said.request.unset.insert(name.to_owned());
            }
            None => {}
        }
    }
    said.wrong = found;
    said
}

fn secret(
    command: &str,
    name: &str,
    value: &str,
    part: Part,
    warnings: &mut Diagnostics,
) -> Result<Secret, Diagnostic> {
    if value == "-" {
        return prompt::secret(name, command, part);
    }
    if value.is_empty() {
        return Err(Diagnostic::error(codes::BAD_VALUE, format!("--{} is empty", flag(name)))
            .why("an empty secret keeps nobody out")
            .fix(format!("--{} - asks for it; left out, eos makes one up where it can", flag(name))));
    }
    if value == spoken::ELIDED {
        return Err(Diagnostic::error(codes::BAD_VALUE, format!("--{} is {value}", flag(name)))
            .why("that stands for a secret in what eos shows and keeps; it is none itself")
            .fix(format!("--{} - asks for it, or reads it from stdin", flag(name))));
    }
    warnings.push(
        Diagnostic::warning(codes::SECRET_IN_ARGV, format!("--{} was given on the command line", flag(name)))
            .why("other users see it in the process list, and your shell keeps it in its history")
            .fix(format!("--{} - asks for it, or reads it from stdin", flag(name))),
    );
    Ok(Secret::new(value.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use clap::Command;
    use eos_catalog::{Catalog, flags};

    use crate::args;
    use crate::commands::{create, operation};

    /// The flags of a whole command line that no component brought along.
    fn own(command: Command) -> BTreeSet<String> {
        let mut whole = Command::new("eos").args(args::global()).subcommand(command);
        whole.build();
        let inner = whole.get_subcommands().find(|command| command.get_name() != "help").unwrap();
        let brought = |arg: &&clap::Arg| {
            arg.get_help_heading().is_some_and(|heading| ["Settings", "Features", "Needs"].contains(&heading))
        };
        let own = inner.get_arguments().filter(|arg| !brought(arg));
        own.filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
    }

    #[test]
    fn every_kind_shows_an_example_of_a_value_in_its_help() {
        let catalog = Catalog::built_in();
        let without: Vec<&str> = catalog
            .kinds()
            .filter(|kind| {
                let widest = super::widest(&catalog, kind).unwrap();
                let has_settings = !widest.only_acts() && !widest.settings.is_empty();
                has_settings
                    && !widest.settings.values().any(|setting| super::help(setting).contains("for example"))
            })
            .collect();
        assert!(without.is_empty(), "no example in the help of {without:?}");
        let help = create::kind_command(&catalog, "grafana").unwrap().render_long_help().to_string();
        assert!(help.contains("\n  eos create grafana --port 3001"), "{help}");
    }

    #[test]
    fn every_flag_of_the_commands_is_taken() {
        let catalog = Catalog::built_in();
        let taken = |lists: &[&[&str]]| -> BTreeSet<String> {
            lists.iter().copied().flatten().map(|word| (*word).to_owned()).collect()
        };
        let mut found = BTreeSet::new();
        for kind in catalog.kinds() {
            found.extend(own(create::kind_command(&catalog, kind).unwrap()));
            let (widest, base) = (super::widest(&catalog, kind).unwrap(), catalog.component(kind).unwrap());
            let update = Command::new("update").args(super::flags(&widest, &base, true));
            found.extend(own(update.args(args::changing())));
        }
        assert_eq!(found, taken(&[flags::OF_COMMANDS, flags::OF_COMPONENTS]));
        let convert = operation::command(&catalog, "filesystem", "convert").unwrap();
        let args: BTreeSet<String> =
            catalog.component("filesystem").unwrap().operations["convert"].args.keys().cloned().collect();
        assert_eq!(&own(convert) - &args, taken(&[flags::OF_COMMANDS]));
    }
}
