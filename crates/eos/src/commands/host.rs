//! `eos create host` and `eos update host`: a machine that may be configured. Without this no machine ever is.

use clap::{Arg, ArgMatches, Command};
use eos_compile::intent::{self, HostRequest, host_path};
use eos_model::{Diagnostic, Diagnostics, EnvName, HostName, codes};
use eos_pillar::Change;
use eos_pillar::words::{self, Misfit};
use serde_json::{Value as Json, json};

use super::Call;
use crate::args;
use crate::args::component::Said;
use crate::dry_run;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::own_file::{self, Known};
use crate::recording::{self, Drafted, Message};
use crate::run::flow::{self, Wanted};
use crate::run::this_machine;

pub fn create_command() -> Command {
    Command::new("host")
        .about("Declare a machine that may be configured")
        .arg(Arg::new("NAME").required(true).help("Its name, and its Salt minion id; `local` is this machine"))
        .args(flags())
        .after_help("Examples:\n  eos create host local\n  eos create host db1 --address 10.0.0.5 --volume-group data-vg")
}

pub fn update_command() -> Command {
    Command::new("host")
        .about("Change a declared host")
        .arg(Arg::new("NAME").required(true).help("Its name"))
        .args(flags())
        .after_help("Example:\n  eos update host local --address 10.0.0.5")
}

fn flags() -> Vec<Arg> {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let mut flags = vec![
        text("address", "address", "How others reach it [127.0.0.1 for local, else the name]"),
        text("connection", "connection", "How Salt reaches it [masterless for local, else minion]")
            .value_parser(["masterless", "minion"]),
        text("nomad-node", "name", "Its node name in Nomad [this machine's name for local, else the name]"),
        text("volume-group", "name", "LVM volume group for data; without one, directories are used"),
        text("data-folder", "path", "Where the data of what is created from now on lies [/srv/eos]"),
    ];
    flags.extend(args::changing());
    flags
}

fn name(matches: &ArgMatches) -> Result<HostName, Diagnostic> {
    let given = matches.get_one::<String>("NAME").map_or("", String::as_str);
    given.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))
}

pub fn create(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let context = call.context;
    let text = |key: &str| matches.get_one::<String>(key).cloned();
    let (name, wrong) = named(matches)?;
    let local = name.as_str() == "local";
    let pick = |given: Option<String>, here: &str, there: &str| {
        given.unwrap_or_else(|| if local { here.to_owned() } else { there.to_owned() })
    };
    let request = HostRequest {
        address: pick(text("address"), "127.0.0.1", name.as_str()),
        connection: pick(text("connection"), "masterless", "minion"),
        nomad_node: pick(text("nomad-node"), &context.machine, name.as_str()),
        volume_group: text("volume-group"),
        data_folder: text("data-folder"),
        name,
    };
    let with_wrong = |found| Said::with_wrong(&wrong, found);
    let loaded = Loaded::open_for_change(context).map_err(with_wrong)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str)).map_err(with_wrong)?;
    let environment = loaded.environment(&env).map_err(with_wrong)?;
    let entry = intent::host(&environment, &request).map_err(with_wrong)?;
    if wrong.has_errors() {
        return Err(wrong);
    }
    let mut change = Change::default();
    let path = host_path(&request.name);
    own_file::write_new(&loaded, "hosts", request.name.as_str(), path, &entry, &mut change)?;
    record(call, matches, loaded, &env, &request, (entry, change))
}

pub fn update(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let text = |key: &str| matches.get_one::<String>(key).cloned();
    let (name, wrong) = named(matches)?;
    let with_wrong = |found| Said::with_wrong(&wrong, found);
    let loaded = Loaded::open_for_change(call.context).map_err(with_wrong)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str)).map_err(with_wrong)?;
    let environment = loaded.environment(&env).map_err(with_wrong)?;
    let before = environment.hosts.get(&name).filter(|host| host.environment == env.as_str());
    let Some(before) = before else {
        let unknown = Diagnostic::error(codes::UNKNOWN_NAME, format!("{env} has no host {name}"));
        return Err(with_wrong(unknown.fix("eos list hosts").into()));
    };
    if wrong.has_errors() {
        return Err(wrong);
    }
    let request = HostRequest {
        address: text("address").unwrap_or_else(|| before.address.clone()),
        connection: text("connection").unwrap_or_else(|| before.connection.clone()),
        nomad_node: text("nomad-node").unwrap_or_else(|| before.nomad_node.clone()),
        volume_group: text("volume-group").or_else(|| before.volume_group.clone()),
        data_folder: text("data-folder").or_else(|| before.data_folder.clone()),
        name,
    };
    let entry = intent::host_entry(&environment, &request);
    let path = host_path(&request.name);
    let known = Known { section: "hosts", name: request.name.as_str(), node: &before.node, path };
    let mut change = Change::default();
    own_file::rewrite(&loaded, &environment, &known, &entry, &mut change)?;
    record(call, matches, loaded, &env, &request, (entry, change))
}

fn record(
    call: &Call<'_>,
    matches: &ArgMatches,
    mut loaded: Loaded,
    env: &EnvName,
    request: &HostRequest,
    (entry, change): (Json, Change),
) -> Result<Outcome, Diagnostics> {
    let before = loaded.tree.get(&host_path(&request.name)).unwrap_or_default().to_vec();
    let verb = if before.is_empty() { "create" } else { "update" };
    let message = Message::new(call, matches, format!("{verb} host {} in {env}", request.name));
    let prepared = match recording::draft(&loaded, env, change, Vec::new())? {
        Drafted::Compiles(prepared) => prepared,
        Drafted::Mends(mending) => return mending.record(call, matches, &mut loaded, env, message),
    };
    let is_masterless = request.connection == "masterless";
    // What else is wrong with the estate is for `eos compile` to say.
    let mut warnings = prepared.compiled.warnings.clone();
    warnings.0.retain(|warning| warning.code == codes::SAME_ADDRESS);
    if is_masterless {
        warnings.0.extend(this_machine::warn_of_other(&request.name, &request.address));
    }
    if matches.get_flag("dry-run") {
        return Ok(dry_run::show(call.context, &loaded, env, &prepared, &[]).with_warnings(warnings));
    }
    let mark =
        |root: &camino::Utf8Path| this_machine::mark(call.context, root, &request.name, &request.address);
    // A host that is new carries nothing yet.
    if !before.is_empty() && !args::stops_after_recording(call.context, matches)? {
        if is_masterless {
            mark(&loaded.estate.root)?;
        }
        let wanted = Wanted::new(env, &prepared.compiled, prepared.change.clone(), message, matches)?;
        let wanted = Wanted { warnings, ..wanted };
        return flow::record_and_apply_as(call, &mut loaded, &prepared, wanted, &[]);
    }
    let recorded = recording::commit(call.context, &mut loaded, env, &prepared, message)?;
    if is_masterless {
        mark(&loaded.estate.root)?;
    }
    let mut text = format!(
        "Host {} is declared in {env}: {}, {}, Nomad node {}.\n",
        request.name, request.address, request.connection, request.nomad_node
    );
    if let Some(commit) = &recorded.commit {
        text.push_str(&format!("Recorded as {}.\n", &commit[..10]));
    }
    Ok(Outcome::new(text, json!({"host": request.name, "entry": entry, "commit": recorded.commit}))
        .with_warnings(warnings))
}

/// What is wrong with the name and the values of flags.
pub fn wrong(matches: &ArgMatches) -> Diagnostics {
    type Check = fn(&str) -> Result<(), Misfit>;
    let texts: [(&str, Check); 4] = [
        ("address", words::address),
        ("nomad-node", words::node),
        ("volume-group", words::volume_group),
        ("data-folder", words::folder),
    ];
    let mut found = Diagnostics(name(matches).err().into_iter().collect());
    for (flag, check) in texts {
        let text = matches.try_get_one::<String>(flag).ok().flatten();
        if let Some((text, misfit)) = text.and_then(|text| Some((text, check(text).err()?))) {
            found.push(misfit.told(&format!("--{flag}"), text).fix(format!("--{flag} {}", misfit.instead)));
        }
    }
    found
}

/// The name, and what else is wrong with what was typed; without a name there is nothing to look for in the estate.
fn named(matches: &ArgMatches) -> Result<(HostName, Diagnostics), Diagnostics> {
    let wrong = wrong(matches);
    match name(matches) {
        Ok(name) => Ok((name, wrong)),
        Err(_) => Err(wrong),
    }
}
