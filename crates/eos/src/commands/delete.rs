//! `eos delete`: take something out of the estate. Its data stays where it is.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use clap::{Arg, ArgMatches, Command};
use eos_compile::OPERATIONS;
use eos_compile::intent::{self, component_path, entry_text, host_path, operation_path};
use eos_model::{Diagnostic, Diagnostics, EnvName, HostName, Name, SecretRef, codes};
use eos_pillar::{Change, ComponentEntry, Environment};
use serde_json::json;

use super::Call;
use crate::args::{self, running};
use crate::dry_run;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::own_file::refuse_part_left;
use crate::recording::{self, Drafted, Message};
use crate::run::{self, flow};
use crate::views::plan::counted;
use crate::views::wrap::below;

/// What is left to do once something is recorded as gone that no run ever made.
const NEVER_WAS: &str = "it never was, so nothing is left to do.";

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .override_usage("eos delete [OPTIONS] <NAME>\n       eos delete [OPTIONS] host <NAME>\n       eos delete [OPTIONS] <OPERATION>")
        .arg(
            Arg::new("words")
                .value_name("NAME")
                .required(true)
                .num_args(1..=2)
                .help("What to delete: a name, `host` and a name, or an operation's id"),
        )
        .args(args::changing())
        .after_help(
            "Examples:\n  eos delete grafana\n  eos delete host web2\n  eos delete 20261116t043000-3f9a-resize-lvm",
        ))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let words: Vec<&str> =
        matches.get_many::<String>("words").into_iter().flatten().map(String::as_str).collect();
    let mut loaded = Loaded::open_for_change(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    // What is only recorded destroys nothing.
    let destroyed = match args::stops_after_recording(call.context, matches)? {
        true => BTreeSet::new(),
        false => running::names(matches, "destroy-data")?,
    };
    let mut change = Change::default();
    // What does not go with a name although it is of that name.
    let mut stays = Vec::new();
    let (what, kept) = match words.as_slice() {
        ["host", name] => (delete_host(&loaded, &environment, name, &mut change)?, Vec::new()),
        [id] if environment.operations.contains_key(*id) => {
            (delete_operation(&loaded, &environment, id, &mut change)?, Vec::new())
        }
        [name] => delete_component(&loaded, &environment, name, &destroyed, (&mut change, &mut stays))?,
        // `eos delete postgres crm` reads like create: kind and name.
        [kind, name] if loaded.catalog.resolve(kind).is_ok() => {
            intent::of_kind(&loaded.input(&environment), kind, name, "delete")?;
            delete_component(&loaded, &environment, name, &destroyed, (&mut change, &mut stays))?
        }
        _ => {
            return Err(Diagnostic::error(
                codes::USAGE,
                format!("{} is not one thing to delete", words.join(" ")),
            )
            .why("eos deletes one thing at a time: a name, a kind and its name, or `host` and its name")
            .fix("eos list shows the names")
            .into());
        }
    };
    let message = Message::new(call, matches, format!("delete {what} in {env}"));
    let prepared = match recording::draft(&loaded, &env, change, Vec::new())? {
        Drafted::Compiles(prepared) => prepared,
        Drafted::Mends(mending) => return mending.record(call, matches, &mut loaded, &env, message),
    };
    if matches.get_flag("dry-run") {
        let mut notes = vec![format!("{what} would go from {env}")];
        notes.extend(kept.iter().map(|path| format!("its data would stay at {path}")));
        notes.extend(stays);
        return Ok(dry_run::show(call.context, &loaded, &env, &prepared, &notes));
    }
    let mut notes: Vec<String> =
        kept.iter().map(|path| format!("its data stays at {path}, and its secrets stay with it")).collect();
    notes.extend(stays);
    if let ["host", host] = words.as_slice() {
        notes.extend(data_left_on(&environment, host));
    }
    let component = environment.components.keys().find(|known| words.last() == Some(&known.as_str()));
    let never_ran = component.is_some_and(|name| run::never_applied(&loaded.estate, &env, name.as_str()));
    if !args::stops_after_recording(call.context, matches)? {
        if never_ran {
            notes.push(format!("{what} was never applied; it goes from the pillar"));
        }
        return flow::record_and_apply(call, matches, &mut loaded, &env, &prepared, message, &notes);
    }
    let recorded = recording::commit(call.context, &mut loaded, &env, &prepared, message)?;
    let mut text = format!("Deleted {what} from {env}.\n");
    for note in &notes {
        text.push_str(&below("  ", "  ", note, call.context.width, 4));
    }
    let left = words.last().map(|name| intent::left_behind(&environment, name)).unwrap_or_default();
    if !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|name| name.as_str()).collect();
        let left = format!(
            "made for it, needed by nothing else: {}; eos delete {} takes that away too",
            names.join(", "),
            names[0]
        );
        text.push_str(&below("  ", "  ", &loaded.hint(&env, &left), call.context.width, 4));
    }
    let then = match words.as_slice() {
        ["host", _] if run::runs_only(&loaded.estate, &environment) => {
            "nothing runs there, so nothing is left to do."
        }
        [id] if environment.operations.contains_key(*id)
            && !run::never_applied(&loaded.estate, &env, OPERATIONS) =>
        {
            "was it carried out already, that stays done."
        }
        [id] if environment.operations.contains_key(*id) => NEVER_WAS,
        _ if never_ran => NEVER_WAS,
        _ => "what runs goes on running until eos apply.",
    };
    text.push_str(&recorded.told(&loaded.hint(&env, then), call.context.width));
    Ok(Outcome::new(
        text,
        json!({"deleted": what, "commit": recorded.commit, "kept": kept, "left_behind": left, "applied": false}),
    ))
}

fn delete_component(
    loaded: &Loaded,
    environment: &Environment,
    name: &str,
    destroyed: &BTreeSet<Name>,
    (change, notes): (&mut Change, &mut Vec<String>),
) -> Result<(String, Vec<String>), Diagnostics> {
    if !environment.components.contains_key(name) {
        return Err(loaded.unknown_name(environment, name).into());
    }
    intent::delete(&loaded.input(environment), name)?;
    let name: Name = name.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
    let entry = &environment.components[&name];
    refuse_part_left(
        loaded,
        environment,
        &entry.node,
        (name.as_str(), &component_path(&environment.name, &name)),
    )?;
    let kept = let_go(loaded, &environment.name, &[entry], destroyed, change, notes)?;
    Ok((recording::what(&entry.kind, name.as_str()), kept))
}

/// Takes the secrets of a name away, every version of them, but for those that another name reads; notes say which. What goes
/// as well, without leaving data, reads none any more.
pub fn remove_secrets(
    loaded: &Loaded,
    env: &EnvName,
    name: &Name,
    gone: &BTreeSet<&Name>,
    change: &mut Change,
) -> Result<Vec<String>, Diagnostics> {
    let mut notes = Vec::new();
    for secret in loaded.secrets()? {
        if secret.env != *env || secret.name != *name {
            continue;
        }
        let mut readers = readers(loaded, env, name, &secret);
        readers.retain(|reader| !gone.contains(reader));
        if readers.is_empty() {
            change.remove(eos_secrets::file_of(&secret));
            continue;
        }
        let reads = if readers.len() == 1 { "reads" } else { "read" };
        let readers: Vec<&str> = readers.iter().map(|reader| reader.as_str()).collect();
        let note = format!("the secret {name}/{} stays: {} {reads} it", secret.key, readers.join(", "));
        // Of several versions it is said once.
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

/// Who else reads a secret of a name: what there is under other names, and what was kept of them.
pub fn readers(loaded: &Loaded, env: &EnvName, name: &Name, secret: &SecretRef) -> Vec<Name> {
    // A pillar that cannot be read is told of when it is compiled.
    let Ok(environment) = loaded.environment(env) else { return Vec::new() };
    let entries = environment.components.values().chain(environment.kept.values());
    let others = entries.filter(|entry| entry.name != *name);
    let reads = |entry: &&ComponentEntry| super::secret::read_by(entry).any(|reference| reference == *secret);
    others.filter(reads).map(|entry| entry.name.clone()).collect()
}

/// Takes entries out of the pillar whose units are to go. Where no data stays, their secrets go too; the paths of data that
/// stays are given. Notes say what stays all the same.
pub fn let_go(
    loaded: &Loaded,
    env: &EnvName,
    entries: &[&ComponentEntry],
    destroyed: &BTreeSet<Name>,
    change: &mut Change,
    notes: &mut Vec<String>,
) -> Result<Vec<String>, Diagnostics> {
    let (mut kept, mut gone) = (Vec::new(), BTreeSet::new());
    for entry in entries {
        let (name, path) = (&entry.name, component_path(env, &entry.name));
        // Where no run ever began to make it there is no data that could stay.
        let data_stays = intent::holds_data(&loaded.catalog, entry)
            && !destroyed.contains(name)
            && !run::never_applied(&loaded.estate, env, name.as_str());
        if data_stays {
            // What opens the data stays with it: one made again under this name finds both.
            kept.extend(take_out(loaded, entry, path, change));
        } else {
            change.remove(path);
            gone.insert(name);
        }
    }
    // Not before all are out: one that goes as well needs nobody's secrets.
    for name in &gone {
        notes.extend(remove_secrets(loaded, env, name, &gone, change)?);
    }
    Ok(kept)
}

/// Takes an entry out of the pillar, which remembers where its data stays; the paths are given.
pub fn take_out(
    loaded: &Loaded,
    entry: &ComponentEntry,
    path: Utf8PathBuf,
    change: &mut Change,
) -> Vec<String> {
    if entry.volumes.is_empty() {
        change.remove(path);
        return Vec::new();
    }
    let component = intent::with_features(&loaded.catalog, entry).ok();
    let remembered = intent::remembered(entry, component.as_deref());
    change.write(path, entry_text("kept", entry.name.as_str(), &remembered));
    entry.volumes.values().map(|volume| volume.path.clone()).collect()
}

fn delete_operation(
    loaded: &Loaded,
    environment: &Environment,
    id: &str,
    change: &mut Change,
) -> Result<String, Diagnostics> {
    let id: Name = id.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
    let path = operation_path(&environment.name, &id);
    refuse_part_left(loaded, environment, &environment.operations[&id].node, (id.as_str(), &path))?;
    change.remove(path);
    Ok(format!("operation {id}"))
}

fn delete_host(
    loaded: &Loaded,
    environment: &Environment,
    name: &str,
    change: &mut Change,
) -> Result<String, Diagnostics> {
    let name: HostName =
        name.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
    let Some(host) = environment.hosts.get(&name) else {
        return Err(Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no host {name}"))
            .fix("eos list hosts")
            .into());
    };
    if host.environment != environment.name.as_str() {
        let message = format!("{} has no host {name}: it is one of {}", environment.name, host.environment);
        return Err(Diagnostic::error(codes::UNKNOWN_NAME, message)
            .at(environment.place(&host.node))
            .fix(format!("eos delete host {name} --env {}", host.environment))
            .into());
    }
    if let Some(refusal) = still_used(loaded, environment, &name) {
        return Err(refusal.at(environment.place(&host.node)).into());
    }
    let path = host_path(&name);
    refuse_part_left(loaded, environment, &host.node, (name.as_str(), &path))?;
    change.remove(path);
    Ok(format!("host {name}"))
}

/// Data that names left on a host which is no longer declared.
fn data_left_on(environment: &Environment, host: &str) -> Option<String> {
    let there = environment.kept.values().filter(|kept| kept.host.as_deref() == Some(host));
    let names: Vec<&str> = there.map(|kept| kept.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the data that was kept of {} stays there; it can be taken up again once the host is declared again",
            names.join(", ")
        )
    })
}

/// Everything that needs a host, told at once.
fn still_used(loaded: &Loaded, environment: &Environment, name: &HostName) -> Option<Diagnostic> {
    // The setting that says where the states are, and the hosts it names.
    let listing = |entry: &ComponentEntry| -> Option<(String, Vec<String>)> {
        let setting = intent::with_features(&loaded.catalog, entry).ok()?.states_on.clone()?;
        let listed = entry.settings.get(&setting).and_then(|nodes| nodes.as_list());
        let nodes = listed.into_iter().flatten().filter_map(|node| Some(node.as_str()?.to_owned()));
        Some((setting, nodes.collect()))
    };
    let nodes = |entry: &ComponentEntry| listing(entry).map(|(_, nodes)| nodes).unwrap_or_default();
    let is_it = |host: &str| host == name.as_str();
    let entries = || environment.components.values();
    let placed: Vec<&str> = entries()
        .filter(|entry| entry.host.as_deref().is_some_and(is_it))
        .map(|entry| entry.name.as_str())
        .collect();
    let over: Vec<&ComponentEntry> =
        entries().filter(|entry| nodes(entry).iter().any(|node| is_it(node))).collect();
    let operations: Vec<&str> = environment
        .operations
        .values()
        .filter(|operation| is_it(&operation.host))
        .map(|operation| operation.id.as_str())
        .collect();
    let others = |entry: &ComponentEntry| -> Vec<String> {
        nodes(entry).into_iter().filter(|node| !is_it(node)).collect()
    };
    let alone = over.iter().filter(|entry| others(entry).is_empty()).map(|entry| entry.name.as_str());
    let go = intent::users_first(environment, placed.iter().copied().chain(alone));
    let mut fixes = Vec::new();
    if !go.is_empty() {
        fixes.push(format!("{} first", intent::deletes(&go)));
    }
    if !placed.is_empty() {
        fixes.push("what can be moved is moved by eos update <name> --host <another>".to_owned());
    }
    for entry in over.iter().filter(|entry| !go.contains(&entry.name.as_str())) {
        let flag = listing(entry).map(|(setting, _)| setting.replace('_', "-")).unwrap_or_default();
        fixes.push(format!("eos update {} --{flag} {}", entry.name, others(entry).join(",")));
    }
    let mut carries = placed;
    carries.extend(over.iter().map(|entry| entry.name.as_str()));
    carries.dedup();
    let mut needed = Vec::new();
    if !carries.is_empty() {
        needed.push(format!("carries {}", carries.join(", ")));
    }
    if !operations.is_empty() {
        needed.push(format!("has {}", counted(operations.len(), "recorded operation")));
        fixes.push(format!("take the record of what was done there away: {}", intent::deletes(&operations)));
    }
    (!needed.is_empty()).then(|| {
        Diagnostic::error(codes::STILL_NEEDED, format!("host {name} {}", needed.join(" and ")))
            .why("without the host it could be neither changed nor taken away")
            .fix(fixes.join("; "))
    })
}
