//! `eos list`: components, or hosts, or operations.

use clap::{Arg, ArgMatches, Command};
use eos_compile::intent;
use eos_model::Diagnostics;
use serde_json::{Value as Json, json};

use super::Call;
use crate::exit_code;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::views::table::Table;

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(
            Arg::new("what")
                .value_parser(["components", "hosts", "operations"])
                .default_value("components")
                .help("What to list"),
        )
        .after_help("Examples:\n  eos list\n  eos list hosts --json\n  eos list --env staging"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    let mut rows: Vec<Json> = Vec::new();
    let mut wrong = Diagnostics::new();
    let what = matches.get_one::<String>("what").map_or("components", String::as_str);
    let table = match what {
        "hosts" => {
            let mut table = Table::new(&["HOST", "ADDRESS", "CONNECTION", "NOMAD NODE", "VOLUME GROUP"]);
            for host in environment.hosts.values().filter(|host| host.environment == env.as_str()) {
                let group = host.volume_group.clone();
                table.row(vec![
                    host.name.to_string(),
                    host.address.clone(),
                    host.connection.clone(),
                    host.nomad_node.clone(),
                    group.clone().unwrap_or_else(|| "-".to_owned()),
                ]);
                rows.push(json!({"name": host.name, "address": host.address, "connection": host.connection, "nomad_node": host.nomad_node, "volume_group": group}));
            }
            table
        }
        "operations" => {
            let mut table = Table::new(&["OPERATION", "HOST", "WITH"]);
            for operation in environment.operations.values() {
                let args: serde_json::Map<String, Json> =
                    operation.args.iter().map(|(key, node)| (key.clone(), node.to_json())).collect();
                let shown: Vec<String> = args
                    .iter()
                    .map(|(key, value)| {
                        format!("{key} {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                    })
                    .collect();
                table.row(vec![operation.id.to_string(), operation.host.clone(), shown.join(", ")]);
                rows.push(json!({"id": operation.id, "verb": operation.verb, "kind": operation.kind, "host": operation.host, "args": args}));
            }
            table
        }
        _ => {
            let mut table = Table::new(&["NAME", "KIND", "HOST", "RUNTIME", "PORTS", "NEEDS"]);
            for entry in environment.components.values() {
                // One that cannot be read is told of with its place, and the others are shown.
                let ports: Vec<String> = match intent::with_features(&loaded.catalog, entry) {
                    Ok(component) => {
                        super::show::ports(entry, &component).into_iter().map(|(_, port)| port).collect()
                    }
                    Err(found) => {
                        let place = environment.place(entry.node.get("kind").unwrap_or(&entry.node));
                        wrong.0.extend(found.0.into_iter().map(|one| match one.place {
                            Some(_) => one,
                            None => one.at(place.clone()),
                        }));
                        Vec::new()
                    }
                };
                let needs = super::show::providers(entry);
                let replicated = super::show::replicated(entry);
                let host = entry.host.as_ref().filter(|_| !replicated);
                table.row(vec![
                    entry.name.to_string(),
                    entry.kind.clone(),
                    match host {
                        _ if replicated => "any".to_owned(),
                        host => host.cloned().unwrap_or_else(|| "-".to_owned()),
                    },
                    entry.runtime.clone().unwrap_or_else(|| "-".to_owned()),
                    match ports.as_slice() {
                        _ if replicated => "dynamic".to_owned(),
                        [] => "-".to_owned(),
                        ports => ports.join(" "),
                    },
                    if needs.is_empty() { "-".to_owned() } else { needs.join(" ") },
                ]);
                rows.push(json!({"name": entry.name, "kind": entry.kind, "host": host, "runtime": entry.runtime, "version": entry.version, "ports": ports, "needs": needs}));
            }
            table
        }
    };
    let text = if table.is_empty() {
        format!(
            "{env} has no {what} yet.\n{}",
            if what == "components" { "eos catalog list shows what can be created.\n" } else { "" }
        )
    } else {
        table.render(call.context.table_width, call.context.color_stdout)
    };
    let exit = if wrong.has_errors() { exit_code::of(&wrong) } else { 0 };
    Ok(Outcome::new(text, json!({"environment": env, what: rows})).with_warnings(wrong).exits(exit))
}
