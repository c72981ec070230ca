//! Watching a registered job until it is what it should be, or will not become so.
//!
//! The job's own deadlines decide how long nothing may move; an overall bound ends a watch that would never end. Reads
//! block for a second at most, so that a wish to stop is seen.

mod allocations;
mod completion;
mod rollout;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::error::Error;
use crate::evaluation::{PlacementFailure, describe_placement};
use crate::job::Job;

/// When a job is what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Its deployment is successful; without deployments, its tasks run.
    Healthy,
    /// A batch job's tasks have ended well.
    Complete,
}

/// How far it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    pub desired: u64,
    pub placed: u64,
    pub healthy: u64,
    pub unhealthy: u64,
    /// What happened last, or why nothing does.
    pub note: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Reached,
    Failed(Failure),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// In one sentence.
    pub reason: String,
    /// Events, placement failures and log lines; these may hold secrets.
    pub details: Vec<String>,
    /// Nomad went back to an older version by itself.
    pub reverted: Option<Reverted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reverted {
    /// The version that has the old spec again.
    pub version: u64,
    pub healthy: bool,
}

/// Bounds that are not the job's own.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// On top of the job's deadlines, for Nomad to act on them first.
    pub grace: Duration,
    pub overall: Duration,
    /// How long a node that could take it is waited for, when every one there is is excluded.
    pub placed_within: Duration,
}

impl Limits {
    pub const SERVICE: Limits = Limits {
        grace: Duration::from_secs(10),
        overall: Duration::from_secs(2 * 3600),
        placed_within: Duration::from_secs(45),
    };
    pub const BATCH: Limits = Limits { overall: Duration::from_secs(24 * 3600), ..Limits::SERVICE };
}

/// Watches `job`, as it was read after its registration. `evaluation` is that of the registration, if there was one.
pub fn watch(
    client: &Client,
    job: &Job,
    evaluation: Option<&str>,
    goal: Goal,
    limits: Limits,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Outcome, Error> {
    if job.waits_to_be_launched() {
        return Ok(Outcome::Reached);
    }
    if let Some(evaluation) = evaluation.filter(|id| !id.is_empty()) {
        settle(client, evaluation, limits)?;
    }
    let mut teller = Teller { last: None, tell };
    if goal == Goal::Complete {
        return completion::watch(client, job, limits, &mut teller);
    }
    match rollout::of_version(client, job)? {
        Some(deployment) => rollout::watch(client, job, deployment, limits, &mut teller),
        None => allocations::watch(client, job, limits, &mut teller),
    }
}

/// Waits until the scheduler has looked at the registration: only then a missing deployment means that there is none.
fn settle(client: &Client, evaluation: &str, limits: Limits) -> Result<(), Error> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(20);
    while client.evaluation(evaluation)?.status == "pending" && start.elapsed() < limits.grace {
        if client.stop().wait(pause) {
            return Err(Error::Stopped { operation: format!("waiting for evaluation {evaluation}") });
        }
        pause = (pause * 2).min(Duration::from_millis(500));
    }
    Ok(())
}

/// Tells only what is new, and knows since when nothing was.
struct Teller<'a> {
    last: Option<(Progress, Instant)>,
    tell: &'a mut dyn FnMut(&Progress),
}

impl Teller<'_> {
    fn tell(&mut self, progress: Progress) {
        let same = |(last, _): &(Progress, Instant)| Progress { note: String::new(), ..last.clone() };
        let now = Progress { note: String::new(), ..progress.clone() };
        // A new note is worth telling, yet it is no progress.
        let since = match &self.last {
            Some(last) if same(last) == now => last.1,
            _ => Instant::now(),
        };
        if self.last.as_ref().is_none_or(|(last, _)| *last != progress) {
            (self.tell)(&progress);
        }
        self.last = Some((progress, since));
    }

    fn nothing_for(&self) -> Duration {
        self.last.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }
}

/// Why the newest decision of the scheduler placed less than it should have.
fn placement(client: &Client, job: &Job) -> Vec<String> {
    describe_placement(&placement_failures(client, job))
}

fn placement_failures(client: &Client, job: &Job) -> BTreeMap<String, PlacementFailure> {
    let newest = client.evaluations(&job.id).unwrap_or_default();
    let of_this = newest.into_iter().filter(|evaluation| evaluation.job_modify_index >= job.job_modify_index);
    let mut failing = of_this.map(|evaluation| evaluation.placement_failures);
    failing.find(|failures| !failures.is_empty()).unwrap_or_default()
}

const NO_PLACE: &str = "no node there is may take it";

/// Nothing has found a place for a while, and every node is excluded by what it is: the deadline would change nothing.
/// A node that only restarts is back by then.
fn has_no_place(client: &Client, job: &Job, teller: &Teller, limits: Limits) -> bool {
    if teller.nothing_for() < limits.placed_within {
        return false;
    }
    let failures = placement_failures(client, job);
    !failures.is_empty() && failures.values().all(PlacementFailure::is_excluded_everywhere)
}

fn too_long(job: &Job, teller: &Teller, start: Instant, limits: Limits) -> Option<String> {
    if start.elapsed() > limits.overall {
        return Some(format!("not done after {} minutes", limits.overall.as_secs() / 60));
    }
    let bound = job.deadline() + limits.grace;
    (teller.nothing_for() > bound).then(|| format!("nothing has moved for {} seconds", bound.as_secs()))
}
