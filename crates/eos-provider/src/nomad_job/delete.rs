//! Deleting: the job is deregistered, its tasks have ended, its secrets are gone.

use std::time::{Duration, Instant};

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_nomad::{Client, Error, Patience};

use super::spec::owner_of;
use super::{recorded_spec, secrets, target, trouble};
use crate::call::Call;
use crate::value::Object;

/// Beyond what the tasks themselves may take, for Nomad and its nodes to act.
const GRACE: Duration = Duration::from_secs(120);

/// Stopped first and purged when its tasks have ended: Nomad does not tell of the tasks of a job it has purged.
pub fn delete(call: &Call, prior: &Object) -> Result<(), Diagnostics> {
    let spec = recorded_spec(prior)?;
    let client = target::client(call, &spec, prior, Patience::LONG)?;
    let found = client.with_patience(Patience::SHORT).job(&spec.id).map_err(trouble::diagnostics)?;
    if let Some(job) = found {
        let mark = owner_of(&job.meta);
        if mark != spec.owner.as_deref() {
            return Err(trouble::not_ours(&spec.id, mark, spec.owner.as_deref()).into());
        }
        client.deregister(&spec.id, false).map_err(trouble::diagnostics)?;
        let name = prior.text("name").unwrap_or(&spec.id);
        wait_for_end(call, &client, &spec.id, name, GRACE + job.time_to_stop())?;
        if prior.bool("purge_on_destroy").unwrap_or(true) {
            client.deregister(&spec.id, true).map_err(trouble::diagnostics)?;
        }
    }
    secrets::remove(&client, &spec).map_err(trouble::diagnostics)
}

/// What comes next may want the ports and the data of what ends here.
fn wait_for_end(
    call: &Call,
    client: &Client,
    id: &str,
    name: &str,
    bound: Duration,
) -> Result<(), Diagnostics> {
    let start = Instant::now();
    let mut index = 0;
    let mut told = usize::MAX;
    loop {
        let (all, newer) = client.allocations(id, index).map_err(|error| match error {
            Error::Stopped { .. } => {
                trouble::interrupted(&format!("waiting for the tasks of job {id} to end")).into()
            }
            error => trouble::diagnostics(error),
        })?;
        index = newer;
        let left: Vec<&str> = all.iter().filter(|one| !one.is_terminal()).map(|one| one.short_id()).collect();
        if left.is_empty() {
            return Ok(());
        }
        if left.len() != told {
            told = left.len();
            call.progress(
                name,
                &format!("{told} allocations are ending"),
                serde_json::json!({"ending": told}),
            );
        }
        if start.elapsed() > bound {
            return Err(Diagnostic::error(codes::JOB_FAILED, format!("job {id} does not end"))
                .why(format!(
                    "it is stopped, and after {} seconds these allocations have not ended: {}",
                    bound.as_secs(),
                    left.join(", ")
                ))
                .fix("nomad alloc status <id> says what they wait for; then destroy again")
                .into());
        }
    }
}
