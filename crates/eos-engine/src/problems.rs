//! What tofu, the journal and the leases say, as diagnostics: what happened, why, and what to type next.

use eos_model::{Code, Diagnostic, Name, codes};
use eos_store::lease::{LeaseError, LeaseStatus};
use eos_tofu::{Failure, ServerKind, SilentServer, TofuError};

use crate::desk_lock::Holder;
use crate::journal::JournalError;
use crate::run_id::RunId;
use crate::run_state::Illegal;

/// What helps when nothing was begun. Whoever has recorded something by then says something else in its place.
pub const AGAIN: &str = "the command again";

/// Tofu could not initialise, plan or read: nothing was changed.
pub(crate) fn cannot_plan(unit: &Name, error: &TofuError) -> Diagnostic {
    match error {
        TofuError::Failed { failure } if let Some(address) = protected(failure) => {
            data_at_risk(unit, &address, None)
        }
        TofuError::Interrupted { .. } => Diagnostic::error(codes::STOPPED, format!("stopped at {unit}"))
            .why("tofu was only looking: nothing was changed")
            .fix("run the command again; eos status shows a run that was begun before"),
        TofuError::Failed { failure } if let Some(told) = Told::by_our_provider(failure) => {
            let found = Diagnostic::error(told.code, format!("{unit}: {}", told.message));
            Diagnostic { why: told.why, fix: told.fix, ..found }
        }
        _ => common(unit, error).unwrap_or_else(|| {
            Diagnostic::error(codes::TOFU, format!("{unit}: {error}")).fix(format!(
                "correct the cause, then plan again; to look for yourself: eos tofu {unit} -- plan"
            ))
        }),
    }
}

/// Tofu began to apply and did not get to the end.
pub(crate) fn cannot_apply(unit: &Name, error: &TofuError) -> Diagnostic {
    const LEFT: &str = "what tofu finished is in its state; the rest was not done";
    const UNSAVED: &str = "what tofu finished is not in its state, and the next plan finds it";
    if let TofuError::Failed { failure } = error
        && let Some(told) = Told::by_our_provider(failure)
    {
        let then = "then eos resume goes on, or eos undo takes it back";
        // The reason too: a message is what the journal keeps and eos status shows later.
        let reason = told.why.map(|why| format!("\n{why}")).unwrap_or_default();
        return Diagnostic::error(told.code, format!("{unit}: {}{reason}", told.message))
            .why(LEFT)
            .fix(told.fix.map_or_else(|| then.to_owned(), |fix| format!("{fix}; {then}")));
    }
    common(unit, error).unwrap_or_else(|| {
        Diagnostic::error(codes::APPLY_FAILED, format!("{unit}: {error}"))
            .why(if matches!(error, TofuError::StateNotSaved { .. }) { UNSAVED } else { LEFT })
            .fix("eos resume once the cause is gone, eos apply after correcting the pillar, or eos undo")
    })
}

/// What eos's own provider will not decide: what happened, and what a person can do about it.
pub(crate) fn needs_a_person(error: &TofuError) -> Option<String> {
    let TofuError::Failed { failure } = error else { return None };
    let told = Told::by_our_provider(failure).filter(|told| told.code == codes::STUCK)?;
    Some(told.fix.map_or(told.message.clone(), |fix| format!("{}; {fix}", told.message)))
}

/// What eos's own provider found, which tofu only hands on: one message, one reason, one remedy.
struct Told {
    code: Code,
    message: String,
    why: Option<String>,
    fix: Option<String>,
}

impl Told {
    /// None when anything else went wrong beside it: then tofu's own words say all of it.
    fn by_our_provider(failure: &Failure) -> Option<Told> {
        let mut errors = failure.diagnostics.iter().filter(|found| found.is_error());
        let (found, None) = (errors.next()?, errors.next()) else { return None };
        let (code, message) = found.summary.split_once(": ")?;
        let code = codes::find(code).filter(|page| page.code.as_str() == code)?.code;
        // The remedy comes last, behind the reason; it may have lines of its own.
        let (why, fix) = match found.detail.strip_prefix("try: ") {
            Some(fix) => ("", Some(fix)),
            None => match found.detail.rsplit_once("\ntry: ") {
                Some((why, fix)) => (why, Some(fix)),
                None => (found.detail.as_str(), None),
            },
        };
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        Some(Told { code, message: message.to_owned(), why: text(why), fix: fix.and_then(text) })
    }
}

fn common(unit: &Name, error: &TofuError) -> Option<Diagnostic> {
    Some(match error {
        TofuError::StateLocked { lock, .. } => Diagnostic::error(
            codes::STATE_LOCKED,
            format!("{unit}: the state is locked by {}, which {}", lock.who, doing(&lock.operation)),
        )
        .why(format!("it was locked at {}, and not by this run", seconds(&lock.created)))
        .fix(format!("wait for that tofu; if it is gone: eos tofu {unit} -- force-unlock {}", lock.id)),
        TofuError::BackendDown { failure } => Diagnostic::error(
            codes::BACKEND_DOWN,
            format!("{unit}: the state's backend does not answer: {}", first_paragraph(&failure.to_string())),
        )
        .fix("see that the backend of eos.toml runs and can be reached, then try again"),
        TofuError::NoAnswer { server, .. } => silent(server),
        TofuError::PlanStale { .. } => Diagnostic::error(
            codes::PLAN_STALE,
            format!("{unit}: its state has changed since it was planned"),
        )
        .why("a plan is applied exactly as it was shown, or not at all")
        .fix("eos plan shows what there is to do now"),
        TofuError::Interrupted { .. } => Diagnostic::error(codes::STOPPED, format!("stopped at {unit}"))
            .why("tofu was interrupted once, finished what it had begun and wrote its state")
            .fix("eos resume goes on, eos undo takes it back"),
        _ => return None,
    })
}

/// Says nothing of a unit: it is the same for all of them.
fn silent(server: &SilentServer) -> Diagnostic {
    let (code, place) = match server.kind {
        ServerKind::Backend => (codes::BACKEND_DOWN, "[backend] of eos.toml"),
        ServerKind::Nomad => (codes::NOMAD, "NOMAD_ADDR or [nomad] of eos.toml"),
    };
    Diagnostic::error(
        code,
        format!("{} at {} has not answered for {} s", server.kind, server.address, server.waited.as_secs()),
    )
    .why("whoever listens there takes connections, if any, and says nothing; tofu was only looking and was ended")
    .fix(format!("see that it runs and is what {place} means, then run the command again"))
}

/// `OperationTypeApply` as a person says it.
fn doing(operation: &str) -> String {
    match operation.strip_prefix("OperationType") {
        Some(word) => format!("runs tofu {}", word.to_lowercase()),
        None => format!("says {operation:?}"),
    }
}

/// `2026-11-16 08:47:59.60497891 +0000 UTC` without what nobody reads.
fn seconds(time: &str) -> String {
    time.split_once('.').map_or_else(|| time.to_owned(), |(whole, _)| format!("{whole} UTC"))
}

/// What happened, without the advice that tofu adds: it speaks of flags that a user of eos does not type.
fn first_paragraph(text: &str) -> String {
    let first = text.split("\n\n").next().unwrap_or_default();
    first.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The resource that tofu refuses to destroy because its module protects it.
fn protected(failure: &Failure) -> Option<String> {
    let refused =
        failure.diagnostics.iter().find(|d| d.is_error() && d.detail.contains("prevent_destroy"))?;
    let mut words = refused.detail.split_whitespace();
    let named = refused.address.clone().or_else(|| {
        let word =
            words.find(|word| word.contains('.') && word.chars().next().is_some_and(char::is_alphabetic))?;
        Some(word.trim_end_matches([',', '.', ':']).to_owned())
    });
    Some(named.unwrap_or_else(|| "a protected resource".to_owned()))
}

/// The backend has nothing of a unit that was applied.
pub(crate) fn state_lost(unit: &Name) -> Diagnostic {
    Diagnostic::error(codes::STATE_ELSEWHERE, format!("{unit} was applied, and its state is gone"))
        .why("what runs already looks new to tofu: it would be made a second time, or left behind for good")
        .fix(format!(
            "bring the state back from a backup of the backend; if it is lost for good: eos apply --new-state {unit}"
        ))
}

pub(crate) fn data_at_risk(unit: &Name, address: &str, class: Option<&str>) -> Diagnostic {
    let class = class.map(|class| format!(" ({class})")).unwrap_or_default();
    Diagnostic::error(
        codes::DATA_AT_RISK,
        format!("{unit}: {address} holds data{class} and would be destroyed or replaced"),
    )
    .why("nothing with data goes unless somebody names it")
    .fix(format!("change the pillar so that it stays, or, after a backup: --destroy-data {unit}"))
}

pub(crate) fn journal(error: &JournalError) -> Diagnostic {
    let found = Diagnostic::error(codes::JOURNAL, error.to_string());
    match error {
        JournalError::InUse { .. } => Diagnostic::error(codes::RUN_UNFINISHED, error.to_string())
            .why("the run still goes on")
            .fix("wait for it; eos status shows how far it is"),
        JournalError::NewerFormat { .. } => {
            Diagnostic::error(codes::NEWER_FORMAT, error.to_string()).fix("use the newer eos")
        }
        JournalError::Damaged { .. } | JournalError::NotAJournal { .. } | JournalError::Unreadable { .. } => {
            found
                .why("eos does not guess what it said; a crash can only cut off the last record")
                .fix("bring .eos/state back from a backup; without one, see what each unit is like with eos tofu <unit> -- plan, then move that journal out of .eos/state/runs")
        }
        JournalError::Io { .. } | JournalError::TooLarge { .. } | JournalError::Failed { .. } => found
            .why("what is about to be done is written down first; nothing more was begun")
            .fix(format!("make room on the disk; then eos resume if eos status shows a run, else {AGAIN}")),
    }
}

pub(crate) fn impossible(run: &RunId, error: &Illegal) -> Diagnostic {
    Diagnostic::error(codes::JOURNAL, format!("the journal of run {run} tells something impossible: {error}"))
        .why("it was damaged or edited")
        .fix("bring .eos/state back from a backup; without one, see what each unit is like with eos tofu <unit> -- plan, then move that journal out of .eos/state/runs")
}

/// Somebody else is at work on a unit.
pub fn held(status: &LeaseStatus) -> Diagnostic {
    let unit = status.key.rsplit('/').next().unwrap_or(&status.key);
    let message = format!("{} is held by {} for {} s now", status.key, status.owner, status.age.as_secs());
    Diagnostic::error(codes::LEASE_HELD, message)
        .why("a unit is changed by one run at a time")
        .fix(format!("wait for it; if its machine is gone for good: eos unlock {unit} --because \"...\""))
}

/// Another eos of this machine works in a unit's folder, and no lease says for whom: a plan, or a run whose lease was taken
/// from it while its process was suspended.
pub(crate) fn folder_held(unit: &Name, holder: &Holder) -> Diagnostic {
    let Holder { pid, command, age } = holder;
    let (who, then) = match pid.is_empty() {
        true => ("another eos".to_owned(), "end it".to_owned()),
        false => (
            format!("process {pid}"),
            format!("kill -CONT {pid} lets it go on if it was suspended, kill -9 {pid} ends it"),
        ),
    };
    let command = if command.is_empty() { String::new() } else { format!(" (`{command}`)") };
    let age = age.map(|age| format!(" for {age} s now")).unwrap_or_default();
    let message = format!("the folder of {unit} is held by {who}{command}{age}, on this machine");
    Diagnostic::error(codes::LEASE_HELD, message)
        .why("in a unit's folder one tofu works at a time")
        .fix(format!("{then}; eos status then tells whether a run is to be gone on with, else {AGAIN}"))
}

pub fn lease(error: &LeaseError) -> Diagnostic {
    match error {
        LeaseError::Held { status, .. } | LeaseError::GaveUp { status } => held(status),
        LeaseError::NewerFormat { .. } => {
            Diagnostic::error(codes::NEWER_FORMAT, error.to_string()).fix("use the newer eos")
        }
        _ => Diagnostic::error(codes::STORE, error.to_string())
            .why("without a lease two runs could change the same unit")
            .fix(format!("once leases can be taken again, run {AGAIN}")),
    }
}

#[cfg(test)]
mod tests {
    use eos_tofu::{DiagnosticSeverity, Exit, ToolDiagnostic};

    use super::*;

    fn failed(errors: &[(&str, &str)]) -> TofuError {
        let error = |(summary, detail): &(&str, &str)| ToolDiagnostic {
            severity: DiagnosticSeverity::Error,
            summary: (*summary).to_owned(),
            detail: (*detail).to_owned(),
            address: None,
            file: None,
            line: None,
        };
        let failure = Failure {
            command: "tofu plan".into(),
            exit: Exit::Code(1),
            diagnostics: errors.iter().map(error).collect(),
            stderr: String::new(),
        };
        TofuError::Failed { failure: Box::new(failure) }
    }

    #[test]
    fn what_our_provider_says_has_one_code_and_one_remedy() {
        let web: Name = "web".parse().unwrap();
        let ours = ("E0803: job web belongs to somebody else", "it bears no mark\ntry: eos adopt it");
        let found = cannot_plan(&web, &failed(&[ours]));
        assert_eq!(
            (found.code, found.message.as_str()),
            (codes::JOB_NOT_OURS, "web: job web belongs to somebody else")
        );
        assert_eq!(
            (found.why.as_deref(), found.fix.as_deref()),
            (Some("it bears no mark"), Some("eos adopt it"))
        );
        let found = cannot_apply(&web, &failed(&[ours]));
        assert_eq!(found.code, codes::JOB_NOT_OURS);
        assert!(!found.message.contains("E0803") && !found.message.contains("try:"), "{}", found.message);
        assert_eq!(found.fix.unwrap(), "eos adopt it; then eos resume goes on, or eos undo takes it back");
        // Words of others stay as they are, and so do several at once.
        for errors in [&[("E9999: no code of ours", "")][..], &[ours, ("Bad thing", "")]] {
            assert_eq!(cannot_plan(&web, &failed(errors)).code, codes::TOFU);
        }
    }
}
