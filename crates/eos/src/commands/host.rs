//! `eos create host`: a machine that may be configured. Without this no machine ever is.

use clap::{Arg, ArgMatches, Command};
use eos_compile::intent::{self, HostRequest, entry_text, host_path};
use eos_model::{Diagnostic, Diagnostics, HostName, codes};
use eos_pillar::Change;
use serde_json::json;

use super::Call;
use crate::args;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{self, Message, Prepared};
use crate::views::diff;
use crate::views::style::Style;

pub fn create_command() -> Command {
    Command::new("host")
        .about("Declare a machine that may be configured")
        .arg(Arg::new("NAME").required(true).help("Its name, and its Salt minion id; `local` is this machine"))
        .arg(Arg::new("address").long("address").value_name("address").help("How others reach it [127.0.0.1 for local, else the name]"))
        .arg(Arg::new("connection").long("connection").value_parser(["masterless", "minion"]).help("How Salt reaches it [masterless for local, else minion]"))
        .arg(Arg::new("nomad-node").long("nomad-node").value_name("name").help("Its node name in Nomad [this machine's name for local, else the name]"))
        .arg(Arg::new("volume-group").long("volume-group").value_name("name").help("LVM volume group for data; without one, directories are used"))
        .args(args::changing())
        .after_help("Examples:\n  eos create host local\n  eos create host db1 --address 10.0.0.5 --volume-group data-vg")
}

pub fn create(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let context = call.context;
    let text = |key: &str| matches.get_one::<String>(key).cloned();
    let name: HostName = text("NAME")
        .unwrap_or_default()
        .parse()
        .map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
    let local = name.as_str() == "local";
    let pick = |given: Option<String>, here: &str, there: &str| {
        given.unwrap_or_else(|| if local { here.to_owned() } else { there.to_owned() })
    };
    let request = HostRequest {
        address: pick(text("address"), "127.0.0.1", name.as_str()),
        connection: pick(text("connection"), "masterless", "minion"),
        nomad_node: pick(text("nomad-node"), &context.machine, name.as_str()),
        volume_group: text("volume-group"),
        name,
    };
    check_words(&request)?;
    let mut loaded = Loaded::open_for_change(context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    let entry = intent::host(&environment, &request)?;
    let path = host_path(&request.name);
    let content = entry_text("hosts", request.name.as_str(), &entry);
    let mut change = Change::default();
    change.write(path.clone(), content.clone());
    let compiled = loaded.compile(&loaded.tree.with(&change), &env)?;
    if matches.get_flag("dry-run") {
        let shown = diff::unified(path.as_str(), b"", content.as_bytes(), Style(context.color_stdout));
        return Ok(Outcome::new(
            format!("{shown}Dry run: nothing was written.\n"),
            json!({"dry_run": true, "host": entry}),
        ));
    }
    let prepared = Prepared { change, compiled, made: Vec::new() };
    let subject = format!("create host {} in {env}", request.name);
    let recorded =
        recording::commit(context, &mut loaded, &env, &prepared, Message::new(call, matches, subject))?;
    let text = format!(
        "Host {} is declared in {env}: {}, {}, Nomad node {}.\n",
        request.name, request.address, request.connection, request.nomad_node
    );
    Ok(Outcome::new(text, json!({"host": request.name, "entry": entry, "commit": recorded.commit})))
}

fn check_words(request: &HostRequest) -> Result<(), Diagnostics> {
    let plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c))
    };
    let mut found = Diagnostics::new();
    let words = [
        ("address", Some(&request.address)),
        ("nomad-node", Some(&request.nomad_node)),
        ("volume-group", request.volume_group.as_ref()),
    ];
    for (flag, value) in words {
        if let Some(value) = value.filter(|value| !plain(value)) {
            found.push(
                Diagnostic::error(
                    codes::BAD_VALUE,
                    format!("--{flag}: {value:?} may hold letters, digits, '.', '_', ':' and '-' only"),
                )
                .fix(format!(
                    "--{flag} {}",
                    if flag == "address" {
                        "10.0.0.5, or a name such as db1.example.org"
                    } else {
                        "a plain word such as db1"
                    }
                )),
            );
        }
    }
    if found.has_errors() { Err(found) } else { Ok(()) }
}
