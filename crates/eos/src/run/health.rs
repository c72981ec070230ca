//! Whether an applied unit works, asked of Nomad once tofu is done: its service jobs run, and their checks pass.
//!
//! Also of a unit whose job tofu had no reason to touch: what was healthy when it was applied may have died since. What
//! the tasks wrote is shown with their secrets blanked out, or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use eos_engine::observer::Seen;
use eos_engine::{Health, Unit, Units, jobs};
use eos_model::{Diagnostic, Name, UnitId, codes};
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
    /// Those that go on running: id and namespace, where it has one of its own.
    services: BTreeSet<(String, Option<String>)>,
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
            metas.entry(name.clone()).or_default().extend(Jobs::of(unit, &BTreeMap::new()).metas);
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
    fn check(&self, unit: &Unit, inputs: &BTreeMap<String, Json>) -> Result<Seen, Diagnostic> {
        let mut seen = Seen::new();
        let (jobs, unit) = (Jobs::of(unit, inputs), &unit.id);
        if jobs.services.is_empty() {
            return Ok(seen);
        }
        let stop = Stop::new();
        let client = Client::new(&self.connection, Patience::LONG, stop.clone()).map_err(not_asked)?;
        let end = Instant::now() + LONGEST;
        for (job, namespace) in &jobs.services {
            let client = match namespace {
                Some(namespace) => client.in_namespace(Some(namespace)),
                None => client.clone(),
            };
            loop {
                let look = match self.heard(&client, job) {
                    Some(look) => look.map_err(not_asked)?,
                    None => {
                        stop.stop();
                        return Err(stopped(unit));
                    }
                };
                if look.reasons.is_empty() {
                    seen.insert(job.clone(), look.version);
                    break;
                }
                if self.children.is_interrupted() {
                    return Err(stopped(unit));
                }
                if Instant::now() >= end {
                    let reasons = self.blanked(&unit.name, &jobs, &look);
                    return Err(Diagnostic::error(
                        codes::UNHEALTHY,
                        format!("{unit}: job {job} does not work"),
                    )
                    .why(reasons.join("\n"))
                    .fix(format!("nomad job status {job} tells more; then eos resume or eos undo")));
                }
                stop.wait(PAUSE);
            }
        }
        Ok(seen)
    }
}

impl NomadHealth {
    /// Looks at a job; none when somebody says stop before Nomad has answered, which may take it a minute.
    fn heard(&self, client: &Client, job: &str) -> Option<Result<Look, Error>> {
        let (tell, told) = channel();
        let (client, job) = (client.clone(), job.to_owned());
        std::thread::spawn(move || tell.send(look_at(&client, &job)));
        loop {
            match told.recv_timeout(Duration::from_millis(100)) {
                Ok(look) => return Some(look),
                Err(RecvTimeoutError::Timeout) if !self.children.is_interrupted() => {}
                Err(_) => return None,
            }
        }
    }
}

/// Nothing is known against the job: it is Nomad that does not tell.
fn not_asked(error: Error) -> Diagnostic {
    Diagnostic::error(codes::NOMAD, error.to_string())
}

fn stopped(unit: &UnitId) -> Diagnostic {
    Diagnostic::error(codes::STOPPED, format!("stopped while looking at {unit}"))
        .why("it is applied; whether it works was not known yet")
        .fix("eos resume looks again, eos undo takes it back")
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
    fn of(unit: &Unit, inputs: &BTreeMap<String, Json>) -> Jobs {
        let mut jobs = Jobs::default();
        for (_, job) in jobs::described(unit, inputs) {
            if job["Type"].as_str().is_none_or(|kind| kind == "service") {
                let namespace = job["Namespace"].as_str().map(str::to_owned);
                jobs.services.extend(job["ID"].as_str().map(|id| (id.to_owned(), namespace)));
            }
            jobs.metas.push(json!({"ID": job["ID"], "Meta": job["Meta"]}));
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever says stop while Nomad is silent is heard, and nothing is said against the job.
    #[test]
    fn a_stop_is_heard_while_nomad_is_silent() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Some(format!("http://{}", silent.local_addr().unwrap()));
        let health = NomadHealth {
            connection: Connection { address, ..Connection::default() },
            metas: BTreeMap::new(),
            settings: Settings::default(),
            children: Children::new(),
        };
        let spec = "{\"ID\": \"web\", \"Type\": \"service\"}";
        let main = json!({"resource": {"eos_nomad_job": {"job": {"spec": spec}}}});
        let manifest =
            json!({"format": 1, "unit": "test/web", "kind": "web", "needs": [], "inputs": {}, "volumes": []});
        let files = [("main.tf.json", main), ("manifest.json", manifest)];
        let files = files.map(|(path, content)| (path.into(), content.to_string().into_bytes()));
        let unit = Unit::new(&"test".parse().unwrap(), "web".parse().unwrap(), files.into()).unwrap();
        let found = std::thread::scope(|scope| {
            let asking = scope.spawn(|| health.check(&unit, &BTreeMap::new()));
            // It is being asked.
            let _asked = silent.accept().unwrap();
            health.children.interrupt();
            asking.join().unwrap()
        });
        assert_eq!(found.unwrap_err().code, codes::STOPPED);
    }
}
