//! `eos show`: one component with every choice, or the environment's whole pillar as Salt renders it.

use clap::{Arg, ArgAction, ArgMatches, Command};
use eos_catalog::Component;
use eos_compile::{PortRange, intent, port_settings};
use eos_model::{Diagnostic, Diagnostics, article::article, codes};
use eos_pillar::entry::NeedChoice;
use eos_pillar::{ComponentEntry, Environment};
use serde_json::{Value as Json, json};

use super::Call;
use crate::in_clear;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::own_file;
use crate::views::style::Style;
use crate::views::wrap::field;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .override_usage("eos show <NAME>\n       eos show <KIND> <NAME>\n       eos show host <NAME>\n       eos show --pillar")
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .num_args(1..=2)
                .required_unless_present("pillar")
                .help("A name in the environment; its kind, or `host`, may stand before it"),
        )
        .arg(
            Arg::new("pillar")
                .long("pillar")
                .action(ArgAction::SetTrue)
                .conflicts_with("name")
                .help("The environment's merged pillar, as Salt renders it"),
        )
        .after_help(
            "Examples:\n  eos show nextcloud\n  eos show host local\n  eos show nextcloud --json\n  eos show --pillar --env staging",
        ))
}

/// The port settings of an entry with their numbers, given or default: `49160-49200` where it is a range.
pub fn ports(entry: &ComponentEntry, component: &Component) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    // Where replicas listen is Nomad's choice.
    let settings =
        if replicated(entry) { Vec::new() } else { port_settings(component, entry.runtime.as_deref()) };
    for setting in settings {
        let number = |setting: &str| {
            let given = entry.settings.get(setting).and_then(|node| node.as_i64());
            given.or_else(|| component.settings.get(setting)?.default.as_ref()?.as_i64())
        };
        let range = PortRange::of(component, setting, number);
        if let Some(range) = range.filter(|_| !found.iter().any(|(name, _)| *name == setting)) {
            found.push((setting.to_owned(), range.to_string()));
        }
    }
    found
}

/// Whether it runs several times over, each on a host and a port of Nomad's choice.
pub fn replicated(entry: &ComponentEntry) -> bool {
    entry.replicas.is_some_and(|replicas| replicas > 1)
}

/// The names that meet an entry's needs, each once.
pub fn providers(entry: &ComponentEntry) -> Vec<String> {
    let mut names: Vec<String> = entry
        .needs
        .values()
        .flat_map(|choice| match choice {
            NeedChoice::One(name) => vec![name.to_string()],
            NeedChoice::Each(choices) => choices.values().map(|name| name.to_string()).collect(),
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The account of a program that runs on the host itself.
pub fn account(loaded: &Loaded, entry: &ComponentEntry) -> Option<String> {
    let runtime = entry.runtime.as_deref().filter(|runtime| *runtime == "host");
    let component =
        loaded.catalog.variant(&entry.kind, Some(runtime?), &entry.features.iter().cloned().collect());
    let component = component.ok()?;
    let own = component.tasks.values().find_map(|task| task.user.clone());
    let package = || component.runtimes.host.as_ref().filter(|_| entry.binary.is_none())?.user.clone();
    Some(own.or_else(package).unwrap_or_else(|| "root".to_owned()))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let words: Vec<&str> =
        matches.get_many::<String>("name").into_iter().flatten().map(String::as_str).collect();
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    if matches.get_flag("pillar") {
        let mut pillar = environment.pillar.to_json();
        in_clear::hide_all(&loaded.catalog, &mut pillar);
        return Ok(Outcome::new(eos_yaml::write(&pillar), json!({"environment": env, "pillar": pillar})));
    }
    let name = words.last().copied().unwrap_or_default();
    let entry = match words.as_slice() {
        ["host", host] => return show_host(call, &environment, host),
        [kind, name] => intent::of_kind(&loaded.input(&environment), kind, name, "show")?,
        _ => match environment.components.get(name).or_else(|| by_other_word(&loaded, &environment, name)) {
            Some(entry) => entry,
            None => return Err(loaded.unknown_name(&environment, name).into()),
        },
    };
    let name = entry.name.as_str();
    let component = intent::with_features(&loaded.catalog, entry)?;
    let style = Style(call.context.color_stdout);
    let mut text = format!("{} {} {}\n", style.bold(name), style.dim(article(&entry.kind)), entry.kind);
    text.push_str(&format!("{}\n\n", style.dim(&component.summary)));
    let width = call.context.table_width;
    let mut line = |key: &str, value: &str| text.push_str(&field(key, value, width));
    for (key, value) in [
        ("environment", Some(env.to_string())),
        ("host", entry.host.clone().filter(|_| !replicated(entry))),
        (
            "replicas",
            entry
                .replicas
                .filter(|_| replicated(entry))
                .map(|count| format!("{count}, each on a host and a port of Nomad's choice")),
        ),
        ("runtime", entry.runtime.clone()),
        ("runs as", account(&loaded, entry)),
        ("version", entry.version.clone()),
        ("tier", entry.tier.clone()),
        ("cpu", entry.cpu.map(|cpu| format!("{cpu} MHz"))),
        ("memory", entry.memory.map(|memory| format!("{memory} MiB"))),
    ] {
        if let Some(value) = value {
            line(key, &value);
        }
    }
    if !entry.features.is_empty() {
        line("features", &entry.features.join(", "));
    }
    let mut document = entry.node.to_json();
    in_clear::hide(&loaded.catalog, &mut document);
    let mut settings = serde_json::Map::new();
    for (key, setting) in &component.settings {
        let given = document.pointer(&format!("/settings/{key}")).cloned();
        let value = given.clone().or_else(|| setting.default.clone()).unwrap_or(Json::Null);
        if value.is_null() {
            continue;
        }
        let shown = match value.as_str() {
            Some("") => "none".to_owned(),
            Some(text) => text.to_owned(),
            None => value.to_string(),
        };
        let note = if given.is_none() { "  (default)" } else { "" };
        line(key, &format!("{shown}{note}"));
        settings.insert(key.clone(), json!({"value": value, "default": given.is_none()}));
    }
    for (need, choice) in &entry.needs {
        let shown = match choice {
            NeedChoice::One(name) => name.to_string(),
            NeedChoice::Each(choices) => {
                choices.iter().map(|(each, name)| format!("{name} for {each}")).collect::<Vec<_>>().join(", ")
            }
        };
        line(&format!("needs {need}"), &shown);
    }
    for (volume, choice) in &entry.volumes {
        let size = choice.size.as_deref().unwrap_or("-");
        line(&format!("volume {volume}"), &format!("{} {size} at {}", choice.backing.as_str(), choice.path));
    }
    let needed_by: Vec<&str> = environment
        .components
        .values()
        .filter(|other| providers(other).iter().any(|provider| provider == name))
        .map(|other| other.name.as_str())
        .collect();
    if !needed_by.is_empty() {
        line("needed by", &needed_by.join(", "));
    }
    let file = environment.sources.file(entry.node.file).map(|file| file.to_string()).unwrap_or_default();
    let own = intent::component_path(&env, &entry.name);
    let files = [own_file::foreign(&environment, &entry.node, &own), Some(&entry.node)];
    let files = files.into_iter().flatten().filter_map(|node| environment.sources.file(node.file));
    let mut files: Vec<&str> = files
        .chain([own.as_path()].into_iter().filter(|own| environment.sources.has(own)))
        .map(|file| file.as_str())
        .collect();
    files.sort();
    files.dedup();
    line("written in", &files.join(", "));
    line("compiled to", &format!("build/{env}/{name}"));
    let json = json!({"name": name, "kind": entry.kind, "environment": env, "entry": document, "settings": settings, "needed_by": needed_by, "file": file});
    Ok(Outcome::new(text, json))
}

/// What `eos create hera` has made is called as its kind is: authentik.
fn by_other_word<'e>(
    loaded: &Loaded,
    environment: &'e Environment,
    word: &str,
) -> Option<&'e ComponentEntry> {
    let kind = loaded.catalog.resolve(word).ok()?;
    environment.components.get(kind).filter(|entry| entry.kind == kind)
}

fn show_host(call: &Call<'_>, environment: &Environment, name: &str) -> Result<Outcome, Diagnostics> {
    let Some(host) = environment.hosts.get(name) else {
        return Err(Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no host {name}"))
            .fix("eos list hosts")
            .into());
    };
    let on_it = |entry: &&ComponentEntry| entry.host.as_deref() == Some(name) && !replicated(entry);
    let carries: Vec<&str> =
        environment.components.values().filter(on_it).map(|entry| entry.name.as_str()).collect();
    let file = environment.sources.file(host.node.file).map(|file| file.to_string()).unwrap_or_default();
    let style = Style(call.context.color_stdout);
    let mut text = format!("{} {} host\n\n", style.bold(name), style.dim("a"));
    for (key, value) in [
        ("environment", Some(host.environment.clone())),
        ("address", Some(host.address.clone())),
        ("connection", Some(host.connection.clone())),
        ("nomad node", Some(host.nomad_node.clone())),
        ("volume group", host.volume_group.clone()),
        ("data folder", host.data_folder.clone()),
        ("carries", Some(carries.join(", ")).filter(|names| !names.is_empty())),
        ("written in", Some(file.clone())),
    ] {
        if let Some(value) = value {
            text.push_str(&field(key, &value, call.context.table_width));
        }
    }
    let json = json!({"name": name, "kind": "host", "environment": host.environment, "entry": host.node.to_json(), "carries": carries, "file": file});
    Ok(Outcome::new(text, json))
}
