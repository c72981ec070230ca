//! What was there before eos took it over, and goes on when that is taken back.

use crate::jobs;
use crate::unit::Unit;

/// Why an adopted object stays as it is. A job reads its secrets, which have to stay with it.
pub(crate) fn why(made: &Unit, address: &str, id: &str) -> String {
    let stays = "it was there before eos and goes on as it is now, out of eos's care";
    if !address.starts_with("eos_nomad_job.") {
        return stays.to_owned();
    }
    // One of another namespace than Nomad's usual one has that before its id.
    let job = id.rsplit('/').next().unwrap_or(id);
    let described = jobs::described(made, &Default::default());
    let has_secrets = described.iter().any(|(of, job)| of == address && jobs::reads_secrets(job));
    let secrets = match has_secrets {
        true => format!(", and so does Nomad's variable nomad/jobs/{job} with its secrets"),
        false => String::new(),
    };
    format!(
        "{stays}{secrets}; nomad job history {job} shows what it was before, nomad job revert {job} <VERSION> brings that back"
    )
}
