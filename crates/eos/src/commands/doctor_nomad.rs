//! What `eos doctor` asks Nomad: does it answer, and can its nodes start what the estate asks for?

use std::collections::{BTreeMap, BTreeSet};

use eos_compile::Files;
use eos_model::EnvName;
use eos_nomad::{Client, Error, Node, Patience, Stop};
use serde_json::Value as Json;

use super::Call;
use super::doctor::Finding;
use crate::loaded::Loaded;
use crate::run::{answering, closed_folder, surroundings};

/// What a compiled job needs of a node.
pub struct Job {
    env: EnvName,
    unit: String,
    drivers: BTreeSet<String>,
    /// The nodes it may be placed on, by name.
    nodes: Vec<String>,
}

/// The jobs among compiled files.
pub fn jobs(env: &EnvName, files: &Files) -> Vec<Job> {
    let list = |value: &Json, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let job = |path: &str, bytes: &[u8]| {
        let (folder, _) = path.strip_suffix(".nomad.json")?.split_once("/jobs/")?;
        let job = serde_json::from_slice::<Json>(bytes).ok()?["Job"].take();
        let tasks = list(&job, "TaskGroups").into_iter().flat_map(|group| list(&group, "Tasks"));
        let drivers = tasks.filter_map(|task| task["Driver"].as_str().map(str::to_owned)).collect();
        let constraints = list(&job, "Constraints").into_iter();
        let mut named = constraints.filter(|one| one["LTarget"] == "${node.unique.name}");
        let nodes = named.next().and_then(|one| Some(one["RTarget"].as_str()?.to_owned()));
        let nodes = nodes.iter().flat_map(|nodes| nodes.split(',')).map(str::to_owned).collect();
        let unit = folder.rsplit('/').next().unwrap_or_default().to_owned();
        Some(Job { env: env.clone(), unit, drivers, nodes })
    };
    files.iter().filter_map(|(path, bytes)| job(path.as_str(), bytes)).collect()
}

/// Where nobody has said where Nomad is, it may not be needed yet.
pub fn findings(call: &Call<'_>, loaded: &Loaded, jobs: &[Job]) -> Vec<Finding> {
    let variable = |name: &str| {
        surroundings::nomad_variable(&call.context.given, &loaded.estate.file, &loaded.estate.root, name)
    };
    let said = variable("NOMAD_ADDR").is_some();
    let at_once = Patience::at_once(answering::WITHIN);
    let connection = surroundings::nomad_connection(variable);
    match Client::new(&connection, at_once, Stop::new()).and_then(|client| Ok((client.nodes()?, client))) {
        Ok((nodes, client)) => {
            let ready = nodes.iter().filter(|node| node.takes_work()).count();
            let address = client.address();
            let mut found =
                vec![Finding::Good(format!("Nomad at {address} answers: {ready} node(s) take work"))];
            found.extend(missing_nodes(jobs, &nodes));
            found.extend(missing_drivers(loaded, jobs, &nodes));
            for environment in jobs.iter().map(|job| &job.env).collect::<BTreeSet<_>>() {
                let Ok(environment) = loaded.environment(environment) else { continue };
                let closed = closed_folder::of_environment(call.context, loaded, &client, &environment).0;
                found.extend(closed.into_iter().map(super::doctor::bad));
            }
            found
        }
        Err(error) => {
            let what = match error {
                Error::Unreachable { address, reason, .. } => {
                    format!("Nomad at {address} cannot be reached: {reason}")
                }
                error => error.to_string(),
            };
            let fix = NOMAD_FIX.to_owned();
            vec![if said { Finding::Bad(what, fix) } else { Finding::Note(what, fix) }]
        }
    }
}

const NOMAD_FIX: &str = "start it, or say where it is: [nomad] in eos.toml, or NOMAD_ADDR";

/// Names that no node has: jobs for them are never placed.
fn missing_nodes(jobs: &[Job], nodes: &[Node]) -> Vec<Finding> {
    let is_there = |name: &String| nodes.iter().any(|node| node.name == *name);
    let mut missing: BTreeMap<&String, BTreeSet<&str>> = BTreeMap::new();
    for job in jobs.iter().filter(|job| !job.nodes.iter().any(is_there)) {
        for name in &job.nodes {
            missing.entry(name).or_default().insert(&job.unit);
        }
    }
    let there: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
    let found = missing.into_iter().map(|(name, units)| {
        Finding::Bad(
            format!("Nomad has no node {name}, which {} must run on; it has: {there}", listed(&units)),
            "start an agent there; or say what it is called: eos update host <host> --nomad-node <node>"
                .to_owned(),
        )
    });
    found.collect()
}

/// Drivers that no node a job may be placed on has, each told once for all jobs.
fn missing_drivers(loaded: &Loaded, jobs: &[Job], nodes: &[Node]) -> Vec<Finding> {
    // Node, driver and what is wrong with it → the units that want it.
    let mut missing = BTreeMap::<_, BTreeSet<_>>::new();
    for job in jobs {
        let may = |node: &&Node| job.nodes.is_empty() || job.nodes.contains(&node.name);
        let places: Vec<&Node> = nodes.iter().filter(may).collect();
        for driver in &job.drivers {
            if places.iter().any(|node| node.lacks(driver).is_none()) {
                continue;
            }
            for node in &places {
                let why = node.lacks(driver).unwrap_or_default();
                missing.entry((&*node.name, &**driver, why)).or_default().insert((&job.env, &*job.unit));
            }
        }
    }
    let mut found = Vec::new();
    for ((node, driver, why), jobs) in missing {
        let units = jobs.iter().map(|(_, unit)| *unit).collect();
        let what = format!("Nomad's node {node} cannot start {}: its {driver} driver: {why}", listed(&units));
        let fix = match driver {
            "docker" => {
                let instead = jobs.iter().find_map(|(env, unit)| as_host_process(loaded, env, unit));
                let instead =
                    instead.map(|command| format!("; or without docker: {command}")).unwrap_or_default();
                format!("install docker on {node} and start it, Nomad finds it by itself{instead}")
            }
            "raw_exec" => {
                format!("allow raw_exec in the agent's file on {node} and start it again (docs/nomad.md)")
            }
            driver => format!("see that {driver} is there on {node}"),
        };
        found.push(Finding::Bad(what, fix));
    }
    found
}

/// What to type to run a unit without a container, where its kind can.
fn as_host_process(loaded: &Loaded, env: &EnvName, unit: &str) -> Option<String> {
    let environment = loaded.environment(env).ok()?;
    let entry = environment.components.get(unit)?;
    loaded.catalog.component(&entry.kind).ok()?.runtimes.host.as_ref()?;
    Some(loaded.hint(env, &format!("eos update {unit} --runtime host")))
}

fn listed(units: &BTreeSet<&str>) -> String {
    units.iter().copied().collect::<Vec<_>>().join(", ")
}
