//! A batch job that is to end: done when Nomad calls it dead and every allocation it needed has completed.

use std::time::Instant;

use super::allocations::{desired, failed};
use super::rollout::latest_event;
use super::{Limits, NO_PLACE, Outcome, Progress, Teller, has_no_place, placement};
use crate::allocation::Allocation;
use crate::client::Client;
use crate::error::Error;
use crate::job::Job;

pub(super) fn watch(
    client: &Client,
    job: &Job,
    limits: Limits,
    teller: &mut Teller,
) -> Result<Outcome, Error> {
    let start = Instant::now();
    let mut index = 0;
    loop {
        // The state before the allocations: what is dead by then has its last allocations in the list.
        let now = client.job(&job.id)?;
        let (all, newer) = client.allocations(&job.id, index)?;
        index = newer;
        let ours: Vec<Allocation> = all.into_iter().filter(|one| one.job_version == job.version).collect();
        let complete = ours.iter().filter(|one| one.client_status == "complete").count() as u64;
        let ended_badly = |one: &&Allocation| {
            matches!(one.client_status.as_str(), "failed" | "lost") && one.next_allocation.is_empty()
        };
        let unhealthy = ours.iter().filter(ended_badly).count() as u64;
        let desired = desired(job, &ours);
        let note = latest_event(&ours).unwrap_or_else(|| placement(client, job).join("; "));
        teller.tell(Progress { desired, placed: ours.len() as u64, healthy: complete, unhealthy, note });
        let reason = match &now {
            None => Some("the job is gone".to_owned()),
            Some(now) if now.stop => Some("the job was stopped".to_owned()),
            Some(now) if now.job_modify_index != job.job_modify_index => {
                Some("the job was changed by somebody else".to_owned())
            }
            Some(now) if now.status == "dead" && complete >= desired && unhealthy == 0 => {
                return Ok(Outcome::Reached);
            }
            Some(now) if now.status == "dead" => {
                Some(format!("{complete} of {desired} allocations completed"))
            }
            _ if ours.is_empty() && desired > 0 && has_no_place(client, job, teller, limits) => {
                Some(NO_PLACE.to_owned())
            }
            _ if start.elapsed() > limits.overall => {
                Some(format!("not done after {} hours", limits.overall.as_secs() / 3600))
            }
            _ => None,
        };
        if let Some(reason) = reason {
            let lacking = if ours.is_empty() { placement(client, job) } else { Vec::new() };
            return Ok(failed(client, &ours, reason, lacking));
        }
    }
}
