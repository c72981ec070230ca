//! `eos adopt`: bring a Nomad job that runs already under eos. It keeps its id; its settings come from the catalogue and
//! the flags, and the plan shows in what that differs from what runs.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, ArgMatches, Command};
use eos_compile::Listens;
use eos_compile::intent::Planned;
use eos_engine::jobs;
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use eos_pillar::estate_file::{DEFAULT_NAMESPACE, ESTATE_FILE, EstateFile};
use eos_pillar::{Change, ComponentEntry, Environment};
use serde_json::Value as Json;

use super::{Call, adopt_ports as ports, catalog_here, create};
use crate::args::{self, spoken};
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::recording::{Message, Prepared};
use crate::run;
use crate::run::ended::outcome;
use crate::run::flow::{self, Wanted};
use crate::run::surroundings;

/// What can be adopted.
const JOB: &str = "nomad-job/";

pub fn command(command: Command, call: &Call<'_>) -> Result<Command, Diagnostics> {
    let command = command
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommand_value_name("KIND")
        .override_usage("eos adopt nomad-job/<ID> <KIND> [NAME] [FLAGS]")
        .arg(
            Arg::new("object")
                .value_name("OBJECT")
                .required(true)
                .help("nomad-job/<id> or nomad-job/<namespace>/<id> of the job that runs"),
        )
        .after_help("Example:\n  eos adopt nomad-job/old-redis redis --port 6380");
    match spoken::bare_words(call.words).get(2) {
        Some(word) => Ok(command.subcommand(create::kind_command(&catalog_here(call.context)?, word)?)),
        None => Ok(command),
    }
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let object = matches.get_one::<String>("object").map_or("", String::as_str);
    let Some(job) = object.strip_prefix(JOB).filter(|job| !job.is_empty()) else {
        return Err(Diagnostic::error(codes::USAGE, format!("{object:?} is nothing that can be adopted"))
            .why("eos adopts Nomad jobs, named by their id")
            .fix("eos adopt nomad-job/old-redis redis")
            .into());
    };
    let Some((kind, inner)) = matches.subcommand() else { return Ok(Outcome::default()) };
    if args::stops_after_recording(call.context, inner)? && !inner.get_flag("dry-run") {
        return Err(Diagnostic::error(
            codes::USAGE,
            "a job is taken over at once: that cannot be recorded for later",
        )
        .why("a later apply would find a job that is not eos's own, and leave it alone")
        .fix("leave out --no-apply and EOS_APPLY=no; --dry-run shows what would be recorded")
        .into());
    }
    create::create(call, inner, kind, Some(job))
}

/// The id of a job in the estate's namespace. One of another namespace would be run a second time in this one.
pub fn own_job<'j>(estate: &EstateFile, job: &'j str) -> Result<&'j str, Diagnostic> {
    let Some((namespace, id)) = job.split_once('/') else { return Ok(job) };
    let own = estate.namespace();
    if namespace == own && !id.is_empty() {
        return Ok(id);
    }
    let message = format!("{job:?} is a job of namespace {namespace}; this estate's jobs are in {own}");
    Err(Diagnostic::error(codes::USAGE, message)
        .why("an estate has its jobs in one namespace, and a job cannot be moved to another")
        .fix(format!(
            "write [nomad] namespace = \"{namespace}\" into {ESTATE_FILE} if nothing of this estate runs yet; or adopt it from an estate whose jobs are there"
        )))
}

/// Whether the pillar says already that this job is to be taken over, and nobody has done it: a run did not begin then.
pub fn is_recorded(loaded: &Loaded, environment: &Environment, kind: &str, name: &str, job: &str) -> bool {
    let is_it = |entry: &ComponentEntry| entry.kind == kind && entry.job.as_deref() == Some(job);
    environment.components.get(name).is_some_and(is_it)
        && run::never_applied(&loaded.estate, &environment.name, name)
}

/// What a person must know of a job's data before it is taken over: eos knows the folders of the kind, not the job's own.
pub fn about_data(planned: &Planned, name: &str) -> Option<String> {
    let entry = planned.entries.iter().find(|entry| entry.name.as_str() == name)?;
    let volumes = entry.entry.get("volumes")?.as_object()?.values();
    let folders: Vec<&str> = volumes.filter_map(|volume| volume.get("path")?.as_str()).collect();
    (!folders.is_empty()).then(|| {
        let folders = folders.join(", ");
        format!(
            "eos does not know where the job keeps its data: {name} begins with what is in {folders}. What it has in its allocation's own folder Nomad takes away some time after it was replaced: copy that first"
        )
    })
}

/// A job goes on with the driver that it has, unless somebody says otherwise: made a container by default, a program of
/// the host would be stopped for something that may never start.
pub fn refuse_other_driver(
    call: &Call<'_>,
    loaded: &Loaded,
    env: &EnvName,
    prepared: &Prepared,
    (name, job): (&str, &str),
) -> Result<(), Diagnostics> {
    let units = run::units(env, &prepared.compiled.files)?;
    let Some(unit) = units.units.get(name) else { return Ok(()) };
    let ours: BTreeSet<String> =
        jobs::described(unit, &Default::default()).iter().flat_map(|(_, job)| drivers(job)).collect();
    let client = surroundings::nomad(call.context, &loaded.estate);
    // Of a Nomad that does not answer the plan tells.
    let Some(Ok(Some(found))) = client.map(|client| client.job_document(job)) else { return Ok(()) };
    let theirs = drivers(&found);
    if ours.is_empty() || theirs.is_empty() || !ours.is_disjoint(&theirs) {
        return Ok(());
    }
    let listed = |all: &BTreeSet<String>| all.iter().cloned().collect::<Vec<_>>().join(", ");
    let message = format!("{job} runs with {}, and {name} would with {}", listed(&theirs), listed(&ours));
    Err(Diagnostic::error(codes::USAGE, message)
        .why("taken over so, it would be stopped and started as something else")
        .fix("say which it is to be: --runtime host for a program of its host, --runtime container for an image")
        .into())
}

/// A job that is taken over may listen elsewhere afterwards than it does now: what connects to it must hear of that.
pub fn about_ports(
    call: &Call<'_>,
    loaded: &Loaded,
    prepared: &Prepared,
    (name, job): (&str, &str),
) -> Vec<String> {
    let ours = prepared.compiled.listens.get(name).map(Vec::as_slice).unwrap_or_default();
    let client = surroundings::nomad(call.context, &loaded.estate);
    // Of a Nomad that does not answer the plan tells.
    let Some(Ok(Some(found))) = client.map(|client| client.job_document(job)) else { return Vec::new() };
    let theirs = ports::of(&found);
    let new: Vec<&Listens> = ours.iter().filter(|one| !theirs.contains(&one.port)).collect();
    let listed = |all: &mut dyn Iterator<Item = u16>| all.map(|port| port.to_string()).collect::<Vec<_>>();
    let left = listed(&mut theirs.iter().copied().filter(|port| ours.iter().all(|one| one.port != *port)));
    let mut notes = Vec::new();
    for one in new {
        let (port, flag) = (one.port, one.setting.replace('_', "-"));
        notes.push(match left.as_slice() {
            [] => format!("{name} listens on {port}; {job} does not say where it listens: --{flag} sets that"),
            [old] => format!(
                "{job}: port {old} → {port}; whoever connects to {old} finds nobody there any more: --{flag} {old} keeps it"
            ),
            several => format!(
                "{job}: ports {} → {port}; whoever connects to one of them may find nobody there any more: --{flag} sets it",
                several.join(", ")
            ),
        });
    }
    notes.push(format!("nomad job inspect {job} shows what runs now, --dry-run what takes its place"));
    notes
}

/// What the tasks of a job run with.
fn drivers(job: &Json) -> BTreeSet<String> {
    let parts = |json: &Json, key: &str| json[key].as_array().cloned().unwrap_or_default();
    let groups = parts(job, "TaskGroups").into_iter();
    let tasks = groups.flat_map(|group| parts(&group, "Tasks"));
    tasks.filter_map(|task| task["Driver"].as_str().map(str::to_owned)).collect()
}

/// A name that is taken: under another one the job is still there to be adopted.
pub fn under_another_name(mut found: Diagnostics, kind: &str, job: &str) -> Diagnostics {
    for taken in found.0.iter_mut().filter(|problem| problem.code == codes::NAME_TAKEN) {
        taken.fix = Some(format!("eos adopt {JOB}{job} {kind} <another name>"));
    }
    found
}

/// Takes over what is recorded.
pub fn go_on(
    call: &Call<'_>,
    matches: &ArgMatches,
    loaded: &mut Loaded,
    env: &EnvName,
    name: &str,
    job: &str,
) -> Result<Outcome, Diagnostics> {
    let name: Name = name.parse().map_err(|problem: eos_model::name::BadName| Diagnostic::from(problem))?;
    let compiled = loaded.compile(&loaded.tree, env)?;
    let message = Message::new(call, matches, format!("adopt {name} in {env}"));
    let import = address(import_id(&loaded.estate.file, job));
    let mut wanted = Wanted::new(env, &compiled, Change::default(), message, matches)?;
    wanted.only.insert(name.clone());
    wanted.notes.push(format!(
        "{name}: is recorded already, with the settings of that time; eos update {name} changes them afterwards"
    ));
    wanted.adopt.insert(name, import);
    let (ended, shown) = flow::carry_out(call, loaded, wanted)?;
    Ok(outcome(call, loaded, env, ended, &shown))
}

/// The resource that a component's job is, by the id it is imported by.
pub fn address(job: String) -> BTreeMap<String, String> {
    BTreeMap::from([("eos_nomad_job.job".to_owned(), job)])
}

/// As the provider finds it.
pub fn import_id(estate: &EstateFile, job: &str) -> String {
    match estate.namespace() {
        DEFAULT_NAMESPACE => job.to_owned(),
        namespace => format!("{namespace}/{job}"),
    }
}
