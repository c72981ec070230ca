//! Before kept data goes for good: whether a job is still at it, and whether eos has a record of all that is there.

use eos_engine::{Unit, jobs};
use eos_model::{Diagnostic, Name, codes};
use eos_pillar::Environment;

use super::{surroundings, this_machine};
use crate::context::Context;
use crate::loaded::Loaded;

/// A job that bears the unit's mark and runs: one that was there before eos, and that an undo let go of. Of a Nomad that does
/// not answer nothing is known, and destroying the data does not need it.
pub fn refuse_job(context: &Context, loaded: &Loaded, unit: &Unit) -> Result<(), Diagnostic> {
    let described = jobs::described(unit, &Default::default());
    if described.is_empty() {
        return Ok(());
    }
    let Some(client) = surroundings::nomad(context, &loaded.estate) else { return Ok(()) };
    for (_, job) in described {
        let id = job["ID"].as_str().unwrap_or_default();
        let Ok(Some(found)) = client.job(id) else { continue };
        let is_its = found.meta.get("eos.unit").map(String::as_str) == job["Meta"]["eos.unit"].as_str();
        if is_its && !found.stop && found.status != "dead" {
            let name = unit.name();
            let message = format!("job {id} in Nomad still runs on the data that was kept of {name}");
            return Err(Diagnostic::error(codes::DATA_AT_RISK, message)
                .why("an undo let go of it: it was there before eos took it over")
                .fix(format!("nomad job stop -purge {id}, then eos purge {name} again")));
        }
    }
    Ok(())
}

/// Data on this machine that the pillar knows of and that no run has a record of: eos cannot destroy it, and what opens it
/// must not go before it does.
pub fn refuse_unrecorded(
    context: &Context,
    loaded: &Loaded,
    environment: &Environment,
    name: &Name,
) -> Result<(), Diagnostic> {
    let Some(kept) = environment.kept.get(name) else { return Ok(()) };
    let host = kept.host.as_deref().and_then(|host| environment.hosts.get(host));
    if !host.is_some_and(|host| this_machine::is_it(context, &loaded.estate, host)) {
        return Ok(());
    }
    let has_files = |path: &&str| fs_err::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    let there: Vec<&str> =
        kept.volumes.values().map(|volume| volume.path.as_str()).filter(has_files).collect();
    if there.is_empty() {
        return Ok(());
    }
    let kind = &kept.kind;
    let message = format!("there is data of {name} in {}, and no run has a record of it", there.join(", "));
    Err(Diagnostic::error(codes::DATA_AT_RISK, message)
        .why("eos can destroy only what it has a record of; the secrets that open the data stay as long as it does")
        .fix(format!(
            "eos create {kind} {name} takes it up again, eos delete {name} --destroy-data {name} destroys it then; or remove it by hand, and eos purge {name} again"
        )))
}
