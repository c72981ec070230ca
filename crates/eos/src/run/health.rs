//! Whether an applied unit works, asked of Nomad once tofu is done: its service jobs run, and their checks pass.
//!
//! Also of a unit whose job tofu had no reason to touch: what was healthy when it was applied may have died since.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use eos_engine::observer::Seen;
use eos_engine::{Health, Unit, Units};
use eos_model::{Diagnostic, Name, UnitId, codes};
use eos_nomad::{Client, Connection, Error, Patience, Stop, explain};
use eos_tofu::Children;
use serde_json::Value as Json;

use super::surroundings::{Here, nomad_connection};

/// How long a job may take to show that it works; tofu has waited for its rollout before.
const LONGEST: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(500);

pub struct NomadHealth {
    connection: Connection,
    /// Service jobs by unit.
    jobs: BTreeMap<Name, Vec<String>>,
    /// Whether somebody has said stop.
    children: Children,
}

impl NomadHealth {
    pub fn new(here: &Here, units: &[&Units], children: &Children) -> NomadHealth {
        let connection = nomad_connection(|name| here.nomad_variable(name));
        let all = units.iter().flat_map(|units| &units.units);
        let jobs = all.map(|(name, unit)| (name.clone(), service_jobs(unit))).collect();
        NomadHealth { connection, jobs, children: children.clone() }
    }
}

impl Health for NomadHealth {
    fn check(&self, unit: &UnitId, _: &BTreeMap<String, Json>) -> Result<Seen, Diagnostic> {
        let mut seen = Seen::new();
        let Some(jobs) = self.jobs.get(&unit.name).filter(|jobs| !jobs.is_empty()) else { return Ok(seen) };
        let unhealthy = |job: &str, reasons: Vec<String>| {
            Diagnostic::error(codes::UNHEALTHY, format!("{unit}: job {job} does not work"))
                .why(reasons.join("\n"))
                .fix(format!("nomad job status {job} tells more; then eos resume or eos undo"))
        };
        let asked = |error: Error| unhealthy(&jobs.join(", "), vec![error.to_string()]);
        let stop = Stop::new();
        let client = Client::new(&self.connection, Patience::LONG, stop.clone()).map_err(asked)?;
        let end = Instant::now() + LONGEST;
        for job in jobs {
            loop {
                let (version, reasons) = trouble(&client, job).map_err(asked)?;
                if reasons.is_empty() {
                    seen.insert(job.clone(), version);
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
                    return Err(unhealthy(job, reasons));
                }
                stop.wait(PAUSE);
            }
        }
        Ok(seen)
    }
}

/// A service job's version, and why it does not work at this moment; nothing when it does.
fn trouble(client: &Client, job: &str) -> Result<(u64, Vec<String>), Error> {
    let Some(found) = client.job(job)? else {
        return Ok((0, vec!["Nomad does not have the job".to_owned()]));
    };
    if found.stop {
        return Ok((found.version, vec!["the job was stopped".to_owned()]));
    }
    let (allocations, _) = client.allocations(job, 0)?;
    let current: Vec<_> = allocations
        .into_iter()
        .filter(|allocation| allocation.desired_status == "run" && allocation.job_version == found.version)
        .collect();
    let wanted: u64 = found.task_groups.iter().map(|group| group.count).sum();
    let running = current.iter().filter(|allocation| allocation.client_status == "running").count();
    if (running as u64) < wanted {
        let mut reasons = vec![format!("{running} of {wanted} allocations run")];
        reasons.extend(explain(client, &current));
        return Ok((found.version, reasons));
    }
    let mut reasons = Vec::new();
    for allocation in &current {
        let failing = client.checks(&allocation.id)?.into_iter().filter(|check| check.status == "failure");
        reasons.extend(failing.map(|check| format!("check {} fails: {}", check.check, check.output)));
    }
    Ok((found.version, reasons))
}

/// The ids of the jobs that go on running, from a unit's own files.
fn service_jobs(unit: &Unit) -> Vec<String> {
    let files = unit.files.iter().filter(|(path, _)| path.as_str().ends_with(".nomad.json"));
    let jobs = files.filter_map(|(_, bytes)| serde_json::from_slice::<Json>(bytes).ok());
    let services = jobs.filter(|document| document["Job"]["Type"] == "service");
    services.filter_map(|document| document["Job"]["ID"].as_str().map(str::to_owned)).collect()
}
