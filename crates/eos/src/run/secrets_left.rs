//! A job that an undo let go of goes on, and so does Nomad's variable with what opens its data. Once it is gone and its data
//! is purged, nobody else would take that variable away.

use eos_engine::{Unit, jobs};
use eos_model::{Diagnostic, Diagnostics, codes};
use eos_nomad::Job;
use eos_provider::{Settings, take_out_secrets};

use super::surroundings;
use crate::context::Context;
use crate::loaded::Loaded;

/// Takes the secrets of a unit's jobs out of Nomad. Where that cannot be done the data goes all the same, and a warning
/// says what stays.
pub fn take_away(context: &Context, loaded: &Loaded, unit: &Unit) -> Diagnostics {
    let mut stay = Diagnostics::new();
    let Some(client) = surroundings::nomad(context, &loaded.estate) else { return stay };
    let settings = Settings {
        estate: Some(loaded.estate.root.clone()),
        identity: Some(context.identity_file.clone()),
        ..Settings::default()
    };
    for (_, job) in jobs::described(unit, &Default::default()) {
        if !jobs::reads_secrets(&job) {
            continue;
        }
        let id = job["ID"].as_str().unwrap_or_default();
        // One that bears another mark by now, or none again, may have values of its own there: those are not eos's.
        let is_anothers = |found: Option<Job>| {
            let mark = found.map(|found| found.meta.get("eos.unit").cloned());
            mark.is_some_and(|mark| mark.as_deref() != job["Meta"]["eos.unit"].as_str())
        };
        let why = match take_out_secrets(&settings, &client, &job) {
            Ok(false) => continue,
            Ok(true) if client.job(id).is_ok_and(is_anothers) => continue,
            Ok(true) => "somebody has given it other values".to_owned(),
            Err(found) => found.0.first().map(|one| one.message.clone()).unwrap_or_default(),
        };
        let path = format!("nomad/jobs/{id}");
        let message = format!("secrets of {} may still be in Nomad's variable {path}", unit.name());
        stay.push(
            Diagnostic::warning(codes::NOMAD, message)
                .why(why)
                .fix(format!("nomad var get {path} shows it; nomad var purge {path} once nothing needs it")),
        );
    }
    stay
}
