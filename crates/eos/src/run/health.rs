//! Whether an applied unit works, asked of Nomad once tofu is done: its service jobs run, and their checks pass.
//!
//! Also of a unit whose job tofu had no reason to touch: what was healthy when it was applied may have died since. What
//! the tasks wrote is shown with their secrets blanked out, or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use eos_engine::observer::Seen;
use eos_engine::{Health, Unit, Units};
use eos_model::{Diagnostic, Name, codes};
use eos_nomad::{Client, Connection, Error, Job, Patience, Stop, explain};
use eos_provider::Settings;
use eos_tofu::Children;
use serde_json::{Value as Json, json};

use super::surroundings::{Here, nomad_connection};

/// How long a job may take to show that it works; tofu has waited for its rollout before.
const LONGEST: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(500);

pub struct NomadHealth {
    connection: Connection,
    /// Id and meta of the jobs of each unit, in every revision that a run is about.
    metas: BTreeMap<Name, Vec<Json>>,
    /// What the provider is told, as far as it reads secrets with it.
    settings: Settings,
    /// Whether somebody has said stop.
    children: Children,
}

/// The jobs of a unit.
#[derive(Default)]
struct Jobs {
    /// The ids of those that go on running.
    services: BTreeSet<String>,
    /// Id and meta of all: the meta refers to secrets.
    metas: Vec<Json>,
}

/// What Nomad says of a service job at one moment.
struct Look {
    version: u64,
    meta: BTreeMap<String, String>,
    /// Why it does not work; nothing when it does.
    reasons: Vec<String>,
}

impl NomadHealth {
    pub fn new(here: &Here, units: &[&Units], children: &Children) -> NomadHealth {
        let connection = nomad_connection(|name| here.nomad_variable(name));
        let mut metas: BTreeMap<Name, Vec<Json>> = BTreeMap::new();
        for (name, unit) in units.iter().flat_map(|units| &units.units) {
            metas.entry(name.clone()).or_default().extend(Jobs::of(unit).metas);
        }
        let settings = Settings {
            estate: Some(here.places.root().to_owned()),
            identity: Some(here.identity_file.clone()),
            ..Settings::default()
        };
        NomadHealth { connection, metas, settings, children: children.clone() }
    }

    /// The reasons without the secrets of the unit's files and of the job as it runs.
    fn blanked(&self, unit: &Name, jobs: &Jobs, look: &Look) -> Vec<String> {
        let running = json!({"Meta": look.meta});
        let others = self.metas.get(unit).into_iter().flatten();
        let known: Vec<Json> = jobs.metas.iter().chain(others).cloned().chain([running]).collect();
        match eos_provider::redact_tasks(&self.settings, &known) {
            Ok(redact) => look.reasons.iter().map(|reason| redact.text(reason)).collect(),
            Err(found) => {
                let why = found.0.first().map(|problem| problem.message.clone()).unwrap_or_default();
                vec![format!("what its tasks say is not shown: it may hold secrets, and {why}")]
            }
        }
    }
}

impl Health for NomadHealth {
    fn check(&self, unit: &Unit, _: &BTreeMap<String, Json>) -> Result<Seen, Diagnostic> {
        let mut seen = Seen::new();
        let (jobs, unit) = (Jobs::of(unit), &unit.id);
        if jobs.services.is_empty() {
            return Ok(seen);
        }
        let unhealthy = |job: &str, reasons: Vec<String>| {
            Diagnostic::error(codes::UNHEALTHY, format!("{unit}: job {job} does not work"))
                .why(reasons.join("\n"))
                .fix(format!("nomad job status {job} tells more; then eos resume or eos undo"))
        };
        let all = jobs.services.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let asked = |error: Error| unhealthy(&all, vec![error.to_string()]);
        let stop = Stop::new();
        let client = Client::new(&self.connection, Patience::LONG, stop.clone()).map_err(asked)?;
        let end = Instant::now() + LONGEST;
        for job in &jobs.services {
            loop {
                let look = look_at(&client, job).map_err(asked)?;
                if look.reasons.is_empty() {
                    seen.insert(job.clone(), look.version);
                    break;
                }
                if self.children.is_interrupted() {
                    return Err(Diagnostic::error(
                        codes::STOPPED,
                        format!("stopped while looking at {unit}"),
                    )
                    .why("it is applied; whether it works was not known yet")
                    .fix("eos resume looks again, eos undo takes it back"));
                }
                if Instant::now() >= end {
                    return Err(unhealthy(job, self.blanked(&unit.name, &jobs, &look)));
                }
                stop.wait(PAUSE);
            }
        }
        Ok(seen)
    }
}

fn look_at(client: &Client, job: &str) -> Result<Look, Error> {
    let Some(found) = client.job(job)? else {
        let reasons = vec!["Nomad does not have the job".to_owned()];
        return Ok(Look { version: 0, meta: BTreeMap::new(), reasons });
    };
    let reasons = trouble(client, &found)?;
    Ok(Look { version: found.version, meta: found.meta, reasons })
}

/// Why a service job does not work at this moment; nothing when it does.
fn trouble(client: &Client, job: &Job) -> Result<Vec<String>, Error> {
    if job.stop {
        return Ok(vec!["the job was stopped".to_owned()]);
    }
    let (allocations, _) = client.allocations(&job.id, 0)?;
    let current: Vec<_> = allocations
        .into_iter()
        .filter(|allocation| allocation.desired_status == "run" && allocation.job_version == job.version)
        .collect();
    let wanted: u64 = job.task_groups.iter().map(|group| group.count).sum();
    let running = current.iter().filter(|allocation| allocation.client_status == "running").count();
    if (running as u64) < wanted {
        let mut reasons = vec![format!("{running} of {wanted} allocations run")];
        reasons.extend(explain(client, &current));
        return Ok(reasons);
    }
    let mut reasons = Vec::new();
    for allocation in &current {
        let failing = client.checks(&allocation.id)?.into_iter().filter(|check| check.status == "failure");
        reasons.extend(failing.map(|check| format!("check {} fails: {}", check.check, check.output)));
    }
    Ok(reasons)
}

impl Jobs {
    fn of(unit: &Unit) -> Jobs {
        let mut jobs = Jobs::default();
        let files = unit.files.iter().filter(|(path, _)| path.as_str().ends_with(".nomad.json"));
        for document in files.filter_map(|(_, bytes)| serde_json::from_slice::<Json>(bytes).ok()) {
            let job = &document["Job"];
            if job["Type"] == "service" {
                jobs.services.extend(job["ID"].as_str().map(str::to_owned));
            }
            jobs.metas.push(json!({"ID": job["ID"], "Meta": job["Meta"]}));
        }
        jobs
    }
}
