//! `eos history`: what was done, by whom, when and why.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, Command};
use eos_compile::intent::{self, component_path, host_path};
use eos_model::date;
use eos_model::{Diagnostic, Diagnostics, EnvName, HostName, Name, codes};
use eos_pillar::Environment;
use serde_json::json;

use super::Call;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::views::style::Style;
use crate::views::wrap::{below, wrapped};

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .override_usage("eos history [OPTIONS]\n       eos history <NAME>\n       eos history <KIND> <NAME>\n       eos history host <NAME>")
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .num_args(1..=2)
                .help("Only what touched this component or host; its kind, or `host`, may stand before it"),
        )
        .arg(
            Arg::new("limit")
                .long("limit")
                .short('n')
                .value_name("NUMBER")
                .default_value("20")
                .value_parser(clap::value_parser!(u32).range(1..))
                .help("How many"),
        )
        .after_help("Examples:\n  eos history\n  eos history --env staging\n  eos history grafana -n 5"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let words: Vec<&str> =
        matches.get_many::<String>("name").into_iter().flatten().map(String::as_str).collect();
    let environment = loaded.environment(&env);
    let paths = match words.as_slice() {
        [] if matches.contains_id("env") => of_environment(&env, environment.as_ref().ok()),
        [] => Vec::new(),
        ["host", name] => vec![host_path(&name.parse::<HostName>().map_err(Diagnostic::from)?)],
        [kind, name] => {
            let environment = environment.as_ref().map_err(Clone::clone)?;
            intent::of_kind(&loaded.input(environment), kind, name, "history")?;
            component_paths(&env, Some(environment), name)?
        }
        [name, ..] => {
            let mut paths = component_paths(&env, environment.as_ref().ok(), name)?;
            paths.extend(name.parse::<HostName>().ok().map(|host| host_path(&host)));
            paths
        }
    };
    let limit = matches.get_one::<u32>("limit").copied().unwrap_or(20) as usize;
    let mut changes = loaded.estate.git.history(&paths, limit + 1)?;
    let is_cut = changes.len() > limit;
    changes.truncate(limit);
    let style = Style(call.context.color_stdout);
    let mut text = String::new();
    for change in &changes {
        let who = change.user.as_deref().unwrap_or(&change.author);
        text.push_str(&format!(
            "{}  {}  {who}\n",
            style.cyan(&change.commit[..10]),
            date::minute(change.time)
        ));
        let width = call.context.width;
        let did = change.command.as_deref().unwrap_or(&change.subject);
        for (index, line) in wrapped(did, width - 2, width - 4).iter().enumerate() {
            text.push_str(&format!("{}{}\n", if index == 0 { "  " } else { "    " }, style.bold(line)));
        }
        if let Some(reason) = &change.reason {
            text.push_str(&below("  because ", "  because ", reason, width, 4));
        }
    }
    if is_cut {
        let of: String = words.iter().map(|word| format!("{word} ")).collect();
        text.push_str(&format!("… and older ones: eos history {of}-n {}\n", limit * 2));
    }
    if let (true, Some(name)) = (changes.is_empty(), words.last()) {
        let environment = environment?;
        if let Some(entry) = environment.components.get(*name) {
            let file = environment.sources.file(entry.node.file).map(|file| file.to_string());
            let message = format!("no commit has {} yet, where {name} is", file.unwrap_or_default());
            return Err(Diagnostic::error(codes::DIRTY_TREE, message)
                .fix("git status shows what is new")
                .into());
        }
        return Err(loaded.unknown_name(&environment, name).into());
    }
    Ok(Outcome::new(text, json!({ "changes": changes })))
}

/// Where an environment lies, with the hosts that it has.
fn of_environment(env: &EnvName, environment: Option<&Environment>) -> Vec<Utf8PathBuf> {
    let folders = ["pillar/infrastructure", "pillar/operations", eos_secrets::FOLDER];
    let hosts = environment.into_iter().flat_map(|environment| environment.hosts.values());
    let own = hosts.filter(|host| host.environment == env.as_str()).map(|host| host_path(&host.name));
    folders.iter().map(|folder| Utf8Path::new(folder).join(env.as_str())).chain(own).collect()
}

/// The files that a component is or was written in: eos's own, and those that a person wrote.
fn component_paths(
    env: &EnvName,
    environment: Option<&Environment>,
    name: &str,
) -> Result<Vec<Utf8PathBuf>, Diagnostic> {
    let own = component_path(env, &name.parse::<Name>().map_err(Diagnostic::from)?);
    let entry = environment.and_then(|environment| environment.components.get(name));
    let file = entry.and_then(|entry| environment?.sources.file(entry.node.file));
    let written = file.filter(|file| *file != own).map(ToOwned::to_owned);
    Ok([own].into_iter().chain(written).collect())
}
