//! Jobs: plan, register, look at, deregister. A spec is JSON as `nomad job run -json` takes it, and is passed on as it is.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};
use ureq::http::Method;
use zeroize::Zeroizing;

use crate::client::{Ask, Client, escape};
use crate::diff::JobDiff;
use crate::error::Error;
use crate::evaluation::PlacementFailure;

/// Nomad's own plan: what registering a spec would do.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobPlan {
    /// For [`Client::register`]; zero when there is no such job.
    pub job_modify_index: u64,
    pub diff: JobDiff,
    #[serde(deserialize_with = "or_default")]
    pub annotations: Annotations,
    /// By group, what could not be placed.
    #[serde(rename = "FailedTGAllocs", deserialize_with = "or_default")]
    pub placement_failures: BTreeMap<String, PlacementFailure>,
    pub warnings: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Annotations {
    #[serde(rename = "DesiredTGUpdates", deserialize_with = "or_default")]
    pub desired: BTreeMap<String, DesiredUpdates>,
}

/// What happens to the allocations of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DesiredUpdates {
    pub ignore: u64,
    pub place: u64,
    pub migrate: u64,
    pub stop: u64,
    pub in_place_update: u64,
    pub destructive_update: u64,
    pub canary: u64,
    pub preemptions: u64,
}

/// A job as Nomad has it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Job {
    #[serde(rename = "ID")]
    pub id: String,
    pub namespace: String,
    /// service, batch, system, sysbatch
    #[serde(rename = "Type")]
    pub kind: String,
    /// pending, running, dead
    pub status: String,
    /// Somebody has stopped it.
    pub stop: bool,
    pub stable: bool,
    pub version: u64,
    pub create_index: u64,
    /// Changes with the spec, not with the state.
    pub job_modify_index: u64,
    #[serde(deserialize_with = "or_default")]
    pub meta: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub task_groups: Vec<TaskGroup>,
    pub periodic: Option<Json>,
    pub parameterized_job: Option<Json>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskGroup {
    pub name: String,
    pub count: u64,
    pub update: Option<Update>,
    #[serde(deserialize_with = "or_default")]
    pub tasks: Vec<Task>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Task {
    pub name: String,
    /// In nanoseconds, as all times of Nomad.
    pub kill_timeout: u64,
    pub shutdown_delay: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Update {
    pub max_parallel: u64,
    pub healthy_deadline: u64,
    pub progress_deadline: u64,
}

/// What came of a registration.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Registered {
    #[serde(rename = "EvalID")]
    pub evaluation: String,
    pub job_modify_index: u64,
    pub warnings: String,
}

/// Nomad writes null for an empty list or map.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Job {
    /// The longest a deployment of it may take without any progress, by its own word.
    pub fn deadline(&self) -> Duration {
        let of = |update: &Update| update.progress_deadline.max(update.healthy_deadline);
        let longest = self.task_groups.iter().filter_map(|group| group.update.as_ref()).map(of).max();
        Duration::from_nanos(longest.filter(|deadline| *deadline > 0).unwrap_or(300_000_000_000))
    }

    /// The longest its tasks may take to end.
    pub fn time_to_stop(&self) -> Duration {
        let tasks = self.task_groups.iter().flat_map(|group| &group.tasks);
        Duration::from_nanos(
            tasks.map(|task| task.kill_timeout + task.shutdown_delay).max().unwrap_or_default(),
        )
    }

    /// Nothing runs when it is registered: it waits for its time or for a call.
    pub fn waits_to_be_launched(&self) -> bool {
        self.periodic.is_some() || self.parameterized_job.is_some()
    }

    pub fn is_batch(&self) -> bool {
        matches!(self.kind.as_str(), "batch" | "sysbatch")
    }
}

impl Client {
    /// What registering the spec would change. Changes nothing.
    pub fn plan_job(&self, id: &str, spec: &Json) -> Result<JobPlan, Error> {
        let operation = format!("planning job {id}");
        let body = encode(&json!({"Job": spec, "Diff": true}), &operation)?;
        let path = format!("/v1/job/{}/plan", escape(id));
        self.send(Ask { method: Method::PUT, path, query: Vec::new(), body, repeatable: true, operation })
    }

    /// Registers the spec if the job is still at this index (zero: if there is none).
    pub fn register(&self, id: &str, spec: &Json, check_index: u64) -> Result<Registered, Error> {
        let operation = format!("registering job {id}");
        let body =
            encode(&json!({"Job": spec, "EnforceIndex": true, "JobModifyIndex": check_index}), &operation)?;
        let path = "/v1/jobs".to_owned();
        self.send(Ask { method: Method::PUT, path, query: Vec::new(), body, repeatable: false, operation })
    }

    /// None when there is no such job.
    pub fn job(&self, id: &str) -> Result<Option<Job>, Error> {
        self.find(id)
    }

    /// The job as Nomad has it, every field; none when there is no such job.
    pub fn job_document(&self, id: &str) -> Result<Option<Json>, Error> {
        self.find(id)
    }

    fn find<T: serde::de::DeserializeOwned>(&self, id: &str) -> Result<Option<T>, Error> {
        match self.get(format!("/v1/job/{}", escape(id)), &[], format!("reading job {id}")) {
            Err(error) if error.is_not_found() => Ok(None),
            other => other.map(Some),
        }
    }

    /// All versions that Nomad still has, newest first.
    pub fn job_versions(&self, id: &str) -> Result<Vec<Job>, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Answer {
            versions: Vec<Job>,
        }
        let path = format!("/v1/job/{}/versions", escape(id));
        self.get::<Answer>(path, &[], format!("reading the versions of job {id}"))
            .map(|answer| answer.versions)
    }

    /// Stops the job; purging removes it from Nomad's records too. It is no error when there is none.
    pub fn deregister(&self, id: &str, purge: bool) -> Result<(), Error> {
        let ask = Ask {
            method: Method::DELETE,
            path: format!("/v1/job/{}", escape(id)),
            query: vec![("purge", purge.to_string())],
            body: None,
            repeatable: true,
            operation: format!("deregistering job {id}"),
        };
        self.ask(&ask).map(|_| ())
    }
}

fn encode(document: &Json, operation: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
    serde_json::to_vec(document)
        .map(|bytes| Some(Zeroizing::new(bytes)))
        .map_err(|error| Error::Answer { operation: operation.to_owned(), reason: error.to_string() })
}
