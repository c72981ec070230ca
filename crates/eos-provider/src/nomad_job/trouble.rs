//! Nomad's errors in words for a person.

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_nomad::Error;

pub fn diagnostic(error: &Error) -> Diagnostic {
    let nomad = |message: String| Diagnostic::error(codes::NOMAD, message);
    match error {
        Error::Unreachable { address, reason, operation, sent } => {
            nomad(format!("Nomad at {address} cannot be reached"))
                // Where nothing was asked of it, it is one trouble for all jobs, in the same words.
                .why(if *sent { format!("{operation}: {reason}") } else { reason.clone() })
                .fix("start it, or name another: NOMAD_ADDR=<address>")
        }
        Error::NoLeader { address, operation } => {
            nomad(format!("the Nomad cluster at {address} has no leader"))
                .why(format!("{operation}: nobody can decide"))
                .fix("nomad server members shows which servers are missing")
        }
        Error::PermissionDenied { operation } => nomad("Nomad does not permit it".to_owned())
            .why(format!("{operation}: the token is missing, unknown or not allowed to"))
            .fix("give a token that may read and submit jobs, read logs and write variables: NOMAD_TOKEN=<token>"),
        Error::Conflict { operation, message } => {
            Diagnostic::error(codes::JOB_CHANGED, "somebody else has changed it meanwhile")
                .why(format!("{operation}: {message}"))
                .fix("plan again and look at what differs")
        }
        Error::Setting { what, reason } => nomad("Nomad cannot be asked".to_owned())
            .why(format!("{what}: {reason}"))
            .fix("look at the NOMAD_ variables"),
        Error::Stopped { operation } => interrupted(operation),
        Error::NotFound { .. } | Error::Server { .. } | Error::Answer { .. } => {
            nomad("Nomad did not do it".to_owned())
                .why(error.to_string())
                .fix("nomad status, and the log of the Nomad servers, say more")
        }
    }
}

pub fn diagnostics(error: Error) -> Diagnostics {
    diagnostic(&error).into()
}

pub fn interrupted(operation: &str) -> Diagnostic {
    Diagnostic::error(codes::PROVIDER, "interrupted")
        .why(format!("{operation}: ended early, as asked; Nomad goes on with what it has been told"))
        .fix("plan again: what is done by then is not done twice")
}

/// A job that is there and bears another's mark, or none.
pub fn not_ours(job: &str, mark: Option<&str>, unit: Option<&str>) -> Diagnostic {
    let theirs =
        mark.map_or("it bears no owner mark (eos.unit)".to_owned(), |mark| format!("it belongs to {mark}"));
    let unit = unit.map_or("the spec here has none either".to_owned(), |unit| format!("this is {unit}"));
    // First what harms nobody. Whoever runs it loses it by the other.
    let adopt = format!("eos adopt nomad-job/{job} <KIND>");
    let adopt = match mark {
        Some(_) => format!("only if that estate is given up for good: {adopt} takes the job away from it"),
        None => format!("if it is yours and nothing else looks after it: {adopt}"),
    };
    Diagnostic::error(codes::JOB_NOT_OURS, format!("job {job} in Nomad belongs to somebody else"))
        .why(format!("{theirs}; {unit}"))
        .fix(format!(
            "choose another name here, or a namespace of your own: [nomad] namespace in eos.toml; {adopt}"
        ))
}

pub fn changed(job: &str, seen: u64, now: u64) -> Diagnostic {
    Diagnostic::error(codes::JOB_CHANGED, format!("job {job} was changed after it was planned"))
        .why(format!("it was seen at index {seen}, Nomad has it at {now}"))
        .fix("plan again and look at what differs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_remedy_harms_nobody() {
        for mark in [None, Some("shop.1f/production/redis")] {
            let fix = not_ours("production-redis", mark, Some("shop.2e/production/redis")).fix.unwrap();
            let at = |text: &str| fix.find(text).unwrap_or_else(|| panic!("{text} is not in {fix}"));
            assert!(at("another name") < at("eos adopt nomad-job/production-redis"), "{fix}");
            assert_eq!(fix.contains("takes the job away"), mark.is_some(), "{fix}");
        }
    }

    #[test]
    fn a_nomad_that_is_away_is_the_same_trouble_for_every_job() {
        let of = |job: &str, sent: bool| {
            diagnostic(&Error::Unreachable {
                operation: format!("reading job {job}"),
                address: "http://127.0.0.1:1".to_owned(),
                reason: "connection refused".to_owned(),
                sent,
            })
        };
        assert_eq!(of("web", false), of("db", false));
        // It may have done what it was asked to: for which job is to be told.
        assert_ne!(of("web", true), of("db", true));
    }
}
