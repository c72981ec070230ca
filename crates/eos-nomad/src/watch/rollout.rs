//! A service with a deployment: Nomad itself says when it is healthy and when it has failed.

use std::time::{Duration, Instant};

use super::{
    Failure, Limits, NO_PLACE, Outcome, Progress, Reverted, Teller, has_no_place, placement, too_long,
};
use crate::allocation::Allocation;
use crate::client::Client;
use crate::deployment::Deployment;
use crate::error::Error;
use crate::explain::explain;
use crate::job::Job;

/// The deployment of exactly this version of the job.
pub fn of_version(client: &Client, job: &Job) -> Result<Option<Deployment>, Error> {
    let (all, _) = client.deployments(&job.id, 0)?;
    let ours = |deployment: &Deployment| {
        deployment.job_version == job.version && deployment.job_create_index == job.create_index
    };
    Ok(all.into_iter().find(ours))
}

pub(super) fn watch(
    client: &Client,
    job: &Job,
    deployment: Deployment,
    limits: Limits,
    teller: &mut Teller,
) -> Result<Outcome, Error> {
    let last = follow(client, job, deployment, limits, teller, Hopeless::End)?;
    let (deployment, reason) = match last {
        Ended::Successful => return Ok(Outcome::Reached),
        Ended::Failed(deployment, reason) => (deployment, reason),
    };
    let allocations = client.deployment_allocations(&deployment.id)?;
    let mut details = explain(client, &allocations);
    let counts = deployment.counts();
    if counts.placed_allocs < counts.desired_total {
        details.extend(placement(client, job));
    }
    let reverted = reverted(client, job, &deployment, limits, teller)?;
    Ok(Outcome::Failed(Failure { reason, details, reverted }))
}

enum Ended {
    Successful,
    Failed(Deployment, String),
}

/// What to do about a deployment of which nothing can come any more, long before Nomad's deadline.
#[derive(Clone, Copy, PartialEq)]
enum Hopeless {
    End,
    /// Nomad's own way back is left to Nomad.
    Wait,
}

fn follow(
    client: &Client,
    job: &Job,
    mut deployment: Deployment,
    limits: Limits,
    teller: &mut Teller,
    hopeless: Hopeless,
) -> Result<Ended, Error> {
    let start = Instant::now();
    let mut index = 0;
    let mut ended_by_us = false;
    loop {
        if deployment.is_successful() {
            return Ok(Ended::Successful);
        }
        if deployment.has_failed() {
            let why = if ended_by_us {
                "its tasks have used up their restarts, or cannot be started; "
            } else {
                ""
            };
            let reason = format!("{why}{}", deployment.status_description);
            return Ok(Ended::Failed(deployment, reason));
        }
        // Without them the counts alone are told.
        let allocations = client.deployment_allocations(&deployment.id).unwrap_or_default();
        if hopeless == Hopeless::End && !ended_by_us && is_hopeless(&deployment, &allocations) {
            ended_by_us = client.fail_deployment(&deployment.id).is_ok();
        }
        teller.tell(progress(client, job, &deployment, &allocations));
        let counts = deployment.counts();
        if hopeless == Hopeless::End
            && !ended_by_us
            && counts.placed_allocs == 0
            && counts.desired_total > 0
            && has_no_place(client, job, teller, limits)
        {
            // Nomad then goes back to an older version by itself, where there is one.
            let _ = client.fail_deployment(&deployment.id);
            let (all, _) = client.deployments(&job.id, 0)?;
            let last = all.into_iter().find(|other| other.id == deployment.id).unwrap_or(deployment);
            return Ok(Ended::Failed(last, NO_PLACE.to_owned()));
        }
        if let Some(reason) = too_long(job, teller, start, limits) {
            return Ok(Ended::Failed(deployment, reason));
        }
        let (all, newer) = client.deployments(&job.id, index)?;
        index = newer;
        let Some(same) = all.into_iter().find(|other| other.id == deployment.id) else {
            return Ok(Ended::Failed(deployment, "its deployment is gone: the job was removed".to_owned()));
        };
        deployment = same;
    }
}

/// All are placed, none is healthy, and each has used up its restarts or could not be started at all.
fn is_hopeless(deployment: &Deployment, allocations: &[Allocation]) -> bool {
    let counts = deployment.counts();
    let current: Vec<&Allocation> = allocations.iter().filter(|one| one.desired_status == "run").collect();
    counts.healthy_allocs == 0
        && counts.desired_total > 0
        && current.len() as u64 >= counts.desired_total
        && current.iter().all(|one| one.client_status == "failed" || one.has_used_up_restarts())
}

fn progress(client: &Client, job: &Job, deployment: &Deployment, allocations: &[Allocation]) -> Progress {
    let counts = deployment.counts();
    let mut note = latest_event(allocations).unwrap_or_default();
    if counts.placed_allocs < counts.desired_total && allocations.is_empty() {
        note = placement(client, job).join("; ");
    }
    Progress {
        desired: counts.desired_total,
        placed: counts.placed_allocs,
        healthy: counts.healthy_allocs,
        unhealthy: counts.unhealthy_allocs,
        note,
    }
}

/// What happened last to any task.
pub(super) fn latest_event(allocations: &[Allocation]) -> Option<String> {
    let states = allocations.iter().flat_map(|allocation| &allocation.task_states);
    let events = states.flat_map(|(task, state)| state.events.iter().map(move |event| (task, event)));
    let (task, event) = events.max_by_key(|(_, event)| event.time)?;
    Some(format!("{task}: {}", event.display_message))
}

/// The deployment of a version that was registered a moment ago; none when the scheduler saw no need for one.
fn appears(client: &Client, job: &Job, limits: Limits) -> Result<Option<Deployment>, Error> {
    let start = Instant::now();
    loop {
        // In this order: what is decided by now has made its deployment by then.
        let decided = client
            .evaluations(&job.id)?
            .iter()
            .any(|one| one.job_modify_index >= job.job_modify_index && one.status != "pending");
        let found = of_version(client, job)?;
        if decided || found.is_some() || start.elapsed() > limits.grace {
            return Ok(found);
        }
        if client.stop().wait(Duration::from_millis(100)) {
            return Err(Error::Stopped { operation: format!("watching job {}", job.id) });
        }
    }
}

/// Nomad has registered an older, stable version again: watched too, so that whoever comes next finds it settled.
fn reverted(
    client: &Client,
    job: &Job,
    failed: &Deployment,
    limits: Limits,
    teller: &mut Teller,
) -> Result<Option<Reverted>, Error> {
    if !failed.status_description.contains("rolling back") {
        return Ok(None);
    }
    let Some(now) = client.job(&job.id)?.filter(|now| now.version > job.version) else { return Ok(None) };
    let healthy = match appears(client, &now, limits)? {
        Some(deployment) => {
            matches!(follow(client, &now, deployment, limits, teller, Hopeless::Wait)?, Ended::Successful)
        }
        // The older version still runs as it did.
        None => true,
    };
    Ok(Some(Reverted { version: now.version, healthy }))
}
