//! What goes wrong with states, as diagnostics.

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_salt::{Report, SaltError};

use super::arguments::Arguments;
use super::reach::Failure;

/// So many failing states are told one by one.
const MOST: usize = 8;

pub fn of(arguments: &Arguments<'_>, failure: Failure) -> Diagnostics {
    let error = match failure {
        Failure::Refused(found) => return found,
        Failure::Salt(error) => error,
    };
    let code = match error {
        SaltError::Compile { .. } | SaltError::NeedsRenderer { .. } => codes::BAD_STATES,
        SaltError::Stopped { .. } => codes::STOPPED,
        _ => codes::SALT,
    };
    let text = error.to_string();
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let mut diagnostic =
        Diagnostic::error(code, format!("{}: {}", arguments.name, first.trim_end_matches(':')));
    if !rest.is_empty() {
        diagnostic = diagnostic.why(rest);
    }
    if let Some(remedy) = error.remedy() {
        diagnostic = diagnostic.fix(remedy);
    }
    diagnostic.into()
}

/// The failing states of a run, each with Salt's words.
pub fn of_states(arguments: &Arguments<'_>, report: &Report) -> Diagnostics {
    let failures = report.failures();
    let mut found = Diagnostics::new();
    for state in failures.iter().take(MOST) {
        // A table's cell has room for the first line: it is to say why.
        let reason = state.reason();
        let (first, rest) = reason.split_once('\n').unwrap_or((&reason, ""));
        let message = format!("{state} failed on {}: {first}", arguments.target);
        let problem = Diagnostic::error(codes::STATE_FAILED, message)
            .fix("put right what Salt names; states that are done stay done");
        found.push(if rest.is_empty() { problem } else { problem.why(rest) });
    }
    if failures.len() > MOST {
        let rest = failures.len() - MOST;
        found.push(Diagnostic::error(
            codes::STATE_FAILED,
            format!("{rest} more states failed on {}", arguments.target),
        ));
    }
    found
}

pub fn nothing_undone(arguments: &Arguments<'_>) -> Diagnostic {
    Diagnostic::warning(
        codes::SALT,
        format!("{}: nothing was undone on {}", arguments.name, arguments.target),
    )
    .why("the states have no on_destroy that says how: what they made stays where it is")
}
