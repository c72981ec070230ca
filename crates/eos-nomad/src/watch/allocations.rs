//! A job without deployments (system jobs, services that ask for none, batch jobs that need not end): it is healthy when
//! its tasks run and go on running.

use std::time::{Duration, Instant};

use super::rollout::latest_event;
use super::{Failure, Limits, NO_PLACE, Outcome, Progress, Teller, has_no_place, placement, too_long};
use crate::allocation::Allocation;
use crate::client::Client;
use crate::error::Error;
use crate::explain::explain;
use crate::job::Job;

/// A task that dies at once has died by then.
const STEADY: Duration = Duration::from_secs(2);

pub(super) fn watch(
    client: &Client,
    job: &Job,
    limits: Limits,
    teller: &mut Teller,
) -> Result<Outcome, Error> {
    let start = Instant::now();
    let mut index = 0;
    let mut steady_since: Option<Instant> = None;
    loop {
        let (all, newer) = client.allocations(&job.id, index)?;
        index = newer;
        let ours: Vec<Allocation> = all
            .into_iter()
            .filter(|one| one.job_version == job.version && one.desired_status == "run")
            .collect();
        let runs = |one: &&Allocation| {
            one.client_status == "running" || (job.is_batch() && one.client_status == "complete")
        };
        let healthy = ours.iter().filter(runs).count() as u64;
        let desired = desired(job, &ours);
        // A failed one with a successor or a date for one is not the last word.
        let last_word = |one: &Allocation| {
            one.client_status == "failed"
                && one.next_allocation.is_empty()
                && one.followup_evaluation.is_empty()
        };
        if ours.iter().any(last_word) {
            return Ok(failed(client, &ours, "an allocation failed".to_owned(), Vec::new()));
        }
        let lacking = if (ours.len() as u64) < desired { placement(client, job) } else { Vec::new() };
        let note =
            if lacking.is_empty() { latest_event(&ours).unwrap_or_default() } else { lacking.join("; ") };
        let unhealthy = ours.iter().filter(|one| one.is_unhealthy()).count() as u64;
        teller.tell(Progress { desired, placed: ours.len() as u64, healthy, unhealthy, note });
        if healthy >= desired && healthy == ours.len() as u64 {
            if steady_since.get_or_insert_with(Instant::now).elapsed() >= STEADY || desired == 0 {
                return Ok(Outcome::Reached);
            }
        } else {
            steady_since = None;
        }
        let no_place = || match is_on_every_node(job) {
            // Nodes that are excluded by what they are, or that are not there at all, are no failure of its scheduler's.
            true => teller.nothing_for() >= limits.placed_within,
            false => has_no_place(client, job, teller, limits),
        };
        if ours.is_empty() && desired > 0 && no_place() {
            return Ok(failed(client, &ours, NO_PLACE.to_owned(), lacking));
        }
        if let Some(reason) = too_long(job, teller, start, limits) {
            return Ok(failed(client, &ours, reason, lacking));
        }
    }
}

/// How many there should be: a system job has one on each node that takes it, which only Nomad can tell, and at least one.
pub(super) fn desired(job: &Job, placed: &[Allocation]) -> u64 {
    let asked: u64 = job.task_groups.iter().map(|group| group.count).sum();
    match is_on_every_node(job) {
        true => (placed.len() as u64).max(asked.min(1)),
        false => asked,
    }
}

fn is_on_every_node(job: &Job) -> bool {
    matches!(job.kind.as_str(), "system" | "sysbatch")
}

pub(super) fn failed(
    client: &Client,
    allocations: &[Allocation],
    reason: String,
    more: Vec<String>,
) -> Outcome {
    let mut details = explain(client, allocations);
    details.extend(more);
    Outcome::Failed(Failure { reason, details, reverted: None })
}
