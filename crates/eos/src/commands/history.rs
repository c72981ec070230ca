//! `eos history`: what was done, by whom, when and why.

use clap::{Arg, ArgMatches, Command};
use eos_compile::intent::{self, component_path, host_path};
use eos_model::date;
use eos_model::{Diagnostic, Diagnostics, HostName, Name};
use serde_json::json;

use super::Call;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::views::style::Style;
use crate::views::wrap::{below, wrapped};

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("name").value_name("NAME").help("Only what touched this component or host"))
        .arg(
            Arg::new("limit")
                .long("limit")
                .short('n')
                .value_name("NUMBER")
                .default_value("20")
                .value_parser(clap::value_parser!(u32).range(1..))
                .help("How many"),
        )
        .after_help("Examples:\n  eos history\n  eos history grafana -n 5"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let bad = |problem: eos_model::name::BadName| Diagnostic::from(problem);
    let path = match matches.get_one::<String>("name") {
        None => None,
        Some(name) => {
            let host: HostName = name.parse().map_err(bad)?;
            let as_host = host_path(&host);
            let component: Name = name.parse().map_err(bad)?;
            Some(if loaded.tree.get(&as_host).is_some() { as_host } else { component_path(&env, &component) })
        }
    };
    let limit = matches.get_one::<u32>("limit").copied().unwrap_or(20) as usize;
    let mut changes = loaded.estate.git.history(path.as_deref(), limit + 1)?;
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
        text.push_str(&format!("… and older ones: eos history -n {}\n", limit * 2));
    }
    if let (true, Some(name)) = (changes.is_empty(), matches.get_one::<String>("name")) {
        return Err(intent::unknown_name(&loaded.environment(&env)?, name).into());
    }
    Ok(Outcome::new(text, json!({ "changes": changes })))
}
