//! Which failure it is, from what tofu said. Its messages are the only place that tells.

use rustix::process::Signal;

use crate::{Exit, Failure, StateLock, TofuError, ToolDiagnostic};

/// What the words of a broken connection look like.
const NO_ANSWER: &[&str] = &[
    "connection refused",
    "connection reset",
    "no such host",
    "i/o timeout",
    "deadline exceeded",
    "network is unreachable",
    "no route to host",
    "giving up after",
    "tls:",
    "x509:",
    "unexpected eof",
    "unexpected http response code 5",
    "http remote state endpoint",
    "http error: 5",
];

/// What the words of state handling look like.
const ABOUT_STATE: &[&str] = &[
    "refreshing state",
    "acquiring the state lock",
    "releasing the state lock",
    "error loading state",
    "failed to load state",
    "failed to get state",
    "failed to save state",
    "failed to read state",
    "failed to persist state",
    "failed to upload state",
    "remote state",
];

const PROVIDER_ENDED: &[&str] = &[
    "plugin did not respond",
    "plugin crashed!",
    "failed to instantiate provider",
    "could not load the schema for provider",
    "error while loading schemas for plugin components",
    "failed to load plugin schemas",
    "unrecognized remote plugin message",
    // A plugin's end also cancels the calls to it; whichever tofu notices first is what it says.
    "request cancelled the plugin",
];

/// Turns a failed call into its error. `interrupted`: our own interrupt was sent to it.
pub(crate) fn classify(failure: Failure, interrupted: bool) -> TofuError {
    let failure = Box::new(failure);
    match failure.exit {
        // By our interrupt it dies only where it does not listen for one yet, or waits behind its gate: nothing was begun.
        Exit::Signal(signal) if !(interrupted && signal == Signal::INT.as_raw()) => {
            return TofuError::Killed { signal, failure };
        }
        _ if interrupted => return TofuError::Interrupted { failure },
        _ => {}
    }
    for error in failure.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
        if let Some(lock) = state_lock(error) {
            return TofuError::StateLocked { lock: Box::new(lock), failure };
        }
        if error.summary.starts_with("Saved plan is stale")
            || error.summary.starts_with("Saved plan does not match")
        {
            return TofuError::PlanStale { failure };
        }
        let text = format!("{} {}", error.summary, error.detail).to_lowercase();
        if mentions(&text, PROVIDER_ENDED) {
            return TofuError::ProviderCrashed { failure };
        }
        if error.address.is_none() && mentions(&text, ABOUT_STATE) && mentions(&text, NO_ANSWER) {
            return TofuError::BackendDown { failure };
        }
    }
    if mentions(&failure.stderr.to_lowercase(), PROVIDER_ENDED) {
        return TofuError::ProviderCrashed { failure };
    }
    TofuError::Failed { failure }
}

/// Text for people is wrapped: words are compared with single spaces between them.
fn mentions(text: &str, words: &[&str]) -> bool {
    let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    words.iter().any(|word| text.contains(word))
}

fn state_lock(error: &ToolDiagnostic) -> Option<StateLock> {
    if !error.summary.contains("state lock") {
        return None;
    }
    let unknown = || "unknown".to_owned();
    let nobody =
        || StateLock { who: unknown(), operation: unknown(), created: unknown(), ..StateLock::default() };
    let mut lock = StateLock::default();
    let Some((before, info)) = error.detail.split_once("Lock Info:") else {
        // A file's lock is held a moment before its holder has written who it is, and a moment after it has erased it.
        return error.detail.contains("resource temporarily unavailable").then(nobody);
    };
    for line in info.lines().filter(|line| line.starts_with("  ")) {
        let Some((name, value)) = line.trim().split_once(':') else { continue };
        let value = value.trim().to_owned();
        match name {
            "ID" => lock.id = value,
            "Path" => lock.path = value,
            "Operation" => lock.operation = value,
            "Who" => lock.who = value,
            "Version" => lock.version = value,
            "Created" => lock.created = value,
            "Info" => lock.info = value,
            _ => {}
        }
    }
    // Terraform's http backend prints the lock it asked for, not the one that is held; only the message names the latter.
    let held = before.split_once("ID=").and_then(|(_, rest)| rest.split_ascii_whitespace().next());
    if let Some(held) = held
        && held != lock.id
    {
        lock = StateLock { id: held.to_owned(), ..nobody() };
    }
    if lock.id.is_empty() { None } else { Some(lock) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DiagnosticSeverity;

    fn failed(summary: &str, detail: &str) -> Failure {
        Failure {
            command: "tofu plan".into(),
            exit: Exit::Code(1),
            diagnostics: vec![ToolDiagnostic {
                severity: DiagnosticSeverity::Error,
                summary: summary.into(),
                detail: detail.into(),
                address: None,
                file: None,
                line: None,
            }],
            stderr: String::new(),
        }
    }

    const LOCKED: &str = "Error message: HTTP remote state already locked:\nID=held-1\nLock Info:\n  ID:        ID1\n  \
                          Path:      \n  Operation: OperationTypeApply\n  Who:       kim@laptop\n  Version:   1.12.6\n  \
                          Created:   2026-11-16 07:17:14 +0000 UTC\n  Info:      \n\n\nOpenTofu acquires a lock: see";

    #[test]
    fn the_holder_of_a_lock_is_read() {
        let detail = LOCKED.replace("ID1", "held-1");
        match classify(failed("Error acquiring the state lock", &detail), false) {
            TofuError::StateLocked { lock, .. } => {
                assert_eq!((lock.id.as_str(), lock.who.as_str()), ("held-1", "kim@laptop"));
                assert_eq!(
                    (lock.operation.as_str(), lock.version.as_str()),
                    ("OperationTypeApply", "1.12.6")
                );
                assert_eq!(lock.created, "2026-11-16 07:17:14 +0000 UTC");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lock_of_our_own_request_is_not_taken_for_the_holders() {
        match classify(failed("Error acquiring the state lock", LOCKED), false) {
            TofuError::StateLocked { lock, .. } => {
                assert_eq!((lock.id.as_str(), lock.who.as_str()), ("held-1", "unknown"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lock_whose_holder_has_not_said_who_it_is() {
        let detail = "Error message: 2 errors occurred:\n\t* resource temporarily unavailable\n\t* open \
                      .web.tfstate.lock.info: no such file or directory";
        match classify(failed("Error acquiring the state lock", detail), false) {
            TofuError::StateLocked { lock, .. } => assert!(lock.is_passing() && lock.who == "unknown"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lock_that_could_not_be_asked_for_is_a_backend_that_is_down() {
        let detail = "Error message: Failed to lock: giving up\nafter 3 attempt(s): connection refused";
        let error = classify(failed("Error acquiring the state lock", detail), false);
        assert!(matches!(error, TofuError::BackendDown { .. }), "{error:?}");
    }

    #[test]
    fn a_resource_that_cannot_connect_is_no_backend() {
        let mut failure = failed("Nomad does not answer", "remote state: connection refused");
        failure.diagnostics[0].address = Some("eos_nomad_job.job".into());
        assert!(matches!(classify(failure, false), TofuError::Failed { .. }));
    }

    #[test]
    fn a_provider_that_ended_is_told_by_either_of_tofus_two_messages() {
        for (summary, detail) in [
            ("Plugin did not respond", "The plugin encountered an error, and failed to respond."),
            ("Request cancelled", "The plugin6.(*GRPCProvider).ReadDataSource request was cancelled."),
        ] {
            let error = classify(failed(summary, detail), false);
            assert!(matches!(error, TofuError::ProviderCrashed { .. }), "{error:?}");
        }
        let error = classify(failed("Request cancelled", "The cloud gave up."), false);
        assert!(matches!(error, TofuError::Failed { .. }), "{error:?}");
    }

    #[test]
    fn signals_and_interrupts_come_first() {
        let mut failure = failed("Saved plan is stale", "");
        assert!(matches!(classify(failure.clone(), false), TofuError::PlanStale { .. }));
        assert!(matches!(classify(failure.clone(), true), TofuError::Interrupted { .. }));
        failure.exit = Exit::Signal(9);
        for interrupted in [false, true] {
            let error = classify(failure.clone(), interrupted);
            assert!(matches!(error, TofuError::Killed { signal: 9, .. }), "{error:?}");
        }
        failure.exit = Exit::Signal(2);
        assert!(matches!(classify(failure.clone(), true), TofuError::Interrupted { .. }));
        assert!(matches!(classify(failure, false), TofuError::Killed { signal: 2, .. }));
    }
}
