//! What there is of a job in Nomad, and in what it differs from a spec.
//!
//! Nomad fills in defaults, so that texts cannot be compared: its own plan of the spec says what differs.

use eos_nomad::{Allocation, Client, Deployment, Error, Goal, Job, JobPlan};

use super::private::Private;
use super::spec::{Spec, attempt_of};

pub struct Survey {
    pub job: Option<Job>,
    pub plan: JobPlan,
    /// The deployment of the job as it is registered, where it has one.
    rollout: Option<Deployment>,
    /// Of a batch job that should have completed: it has not.
    incomplete: bool,
    /// Of a service that came up: it runs nowhere any more, since every allocation has failed.
    failing: bool,
    /// When the job's variable was last changed.
    pub variable_index: Option<u64>,
    secrets_expected: bool,
}

pub fn survey(client: &Client, spec: &Spec, goal: Goal) -> Result<Survey, Error> {
    let job = client.job(&spec.id)?;
    let attempt = job.as_ref().and_then(|job| attempt_of(&job.meta));
    let plan = client.plan_job(&spec.id, &spec.document(client.namespace(), attempt))?;
    let (mut rollout, mut incomplete, mut failing) = (None, false, false);
    if let Some(job) = &job {
        let (deployments, _) = client.deployments(&spec.id, 0)?;
        rollout = deployments.into_iter().find(|deployment| deployment.job_version == job.version);
        if goal == Goal::Complete && job.status == "dead" {
            let (allocations, _) = client.allocations(&spec.id, 0)?;
            incomplete = allocations.iter().any(|allocation| ended_badly(allocation, job));
        }
        let is_up = rollout.as_ref().is_none_or(Deployment::is_successful);
        if is_up && !job.stop && !job.is_batch() {
            let (allocations, _) = client.allocations(&spec.id, 0)?;
            let current = |one: &&Allocation| one.job_version == job.version && one.desired_status == "run";
            let mut current = allocations.iter().filter(current).peekable();
            failing = current.peek().is_some() && current.all(|one| one.client_status == "failed");
        }
    }
    let secrets_expected = !spec.secrets.is_empty();
    let variable_index = if secrets_expected { client.variable_index(&spec.variable_path())? } else { None };
    Ok(Survey { job, plan, rollout, incomplete, failing, variable_index, secrets_expected })
}

fn ended_badly(allocation: &Allocation, job: &Job) -> bool {
    allocation.job_version == job.version
        && matches!(allocation.client_status.as_str(), "failed" | "lost")
        && allocation.next_allocation.is_empty()
}

impl Survey {
    /// The job is registered as the spec says, and will not get going by itself: only a new version of it would.
    pub fn needs_another_attempt(&self) -> bool {
        let Some(job) = &self.job else { return false };
        let dead = job.status == "dead" && !job.is_batch() && !job.waits_to_be_launched();
        let wanted = job.task_groups.iter().any(|group| group.count > 0);
        let failed = self.rollout.as_ref().is_some_and(Deployment::has_failed);
        failed || self.incomplete || self.failing || (dead && wanted)
    }

    /// Registering the spec would change something.
    pub fn needs_registration(&self) -> bool {
        self.job.as_ref().is_none_or(|job| job.stop) || !self.plan.diff.is_empty()
    }

    /// Why the job is not what the spec says, in words; nothing when it is.
    pub fn differences(&self, private: Private) -> Vec<String> {
        let mut reasons = Vec::new();
        match &self.job {
            None => reasons.push("the job is gone".to_owned()),
            Some(job) if job.stop => reasons.push("the job is stopped".to_owned()),
            Some(_) if !self.plan.diff.is_empty() => reasons.push("the job differs from its spec".to_owned()),
            Some(_) => match &self.rollout {
                Some(rollout) if rollout.has_failed() => {
                    reasons.push(format!("its last deployment failed: {}", rollout.status_description));
                }
                Some(rollout) if !rollout.is_successful() => {
                    reasons.push(format!("its deployment is {}", rollout.status));
                }
                _ if self.failing => reasons.push("all of its allocations have failed".to_owned()),
                _ if self.needs_another_attempt() => reasons.push("the job is dead".to_owned()),
                _ => {}
            },
        }
        match (self.secrets_expected, self.variable_index, private.variable_index) {
            (true, None, _) => reasons.push("the variable with its secrets is gone".to_owned()),
            (true, Some(now), Some(seen)) if now != seen => {
                reasons.push("the variable with its secrets was changed".to_owned());
            }
            _ => {}
        }
        reasons
    }
}
