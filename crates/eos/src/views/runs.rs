//! What is told of runs that are not over, and of units that failed in one.

use eos_engine::runs::{EarlierFailure, Known};
use eos_engine::{Outcome as Ending, UnitState};
use eos_model::Name;
use serde_json::{Value as Json, json};

use super::style::Style;
use super::table::Paint;
use super::wrap::{below, wrapped};

/// Lines that are shown of the beginning and of the end of a reason that is longer than both: what happened comes first, a
/// program's own last words come last. `eos status --json` has all of it.
const FIRST_LINES: usize = 20;
const LAST_LINES: usize = 80;

/// How far a run that is not over came.
pub fn how(known: &Known) -> &'static str {
    match (known.in_progress, known.run.outcome) {
        (true, _) => "goes on",
        (false, None) => "was cut off",
        (false, Some(Ending::Failed)) => "failed",
        (false, Some(Ending::Stuck)) => "is stuck",
        (false, Some(_)) => "was stopped",
    }
}

/// A run with each of its units, and what can be done about it.
pub fn run_text(known: &Known, ways_on: &dyn Fn() -> String, style: Style, width: usize) -> (String, Json) {
    let run = &known.run;
    let how = how(known);
    let paint: Paint = match (known.in_progress, run.outcome) {
        (true, _) => Style::cyan,
        (false, None | Some(Ending::Failed | Ending::Stuck)) => Style::red,
        (false, Some(_)) => Style::yellow,
    };
    let begun = &run.begun;
    let head = |how: &str| format!("Run {} {how}: ", begun.run);
    let mut text = format!("\n{}", below(&head(how), &head(&paint(style, how)), &begun.command, width, 4));
    for (name, unit) in &run.units {
        let state = match unit.state {
            UnitState::Planned => "not begun",
            UnitState::Stopped => "stopped before it was done",
            state => state.as_str(),
        };
        text.push_str(&format!("  {name}: {state}\n"));
        // That it was stopped is said already.
        let only_stopped = format!("stopped at {name}");
        let reasons: Vec<&String> = unit.reasons.iter().filter(|reason| **reason != only_stopped).collect();
        text.push_str(&reasons_text(name, reasons.iter().copied(), width));
        if unit.reasons != unit.last_failure && !unit.last_failure.is_empty() {
            text.push_str("    it failed before, and nothing has shown since that the cause is gone:\n");
            text.push_str(&reasons_text(name, &unit.last_failure, width));
        }
    }
    if !known.in_progress {
        let next = format!("{}.", ways_on());
        text.push_str(&below("  Next: ", "  Next: ", &next, width, 4));
    }
    let document = json!({"run": begun.run, "command": begun.command, "commit": begun.commit,
        "in_progress": known.in_progress, "outcome": run.outcome, "units": run.units});
    (text, document)
}

/// A unit that failed in a run whose place another has taken since.
pub fn failure_text(
    name: &Name,
    failure: &EarlierFailure<'_>,
    next: Option<&str>,
    style: Style,
    width: usize,
) -> String {
    let begun = &failure.run.begun;
    let said = format!("in run {} ({}), and was not applied since:", begun.run, begun.command);
    let head = |how: &str| format!("{name} {how} ");
    let mut text = format!("\n{}", below(&head("failed"), &head(&style.red("failed")), &said, width, 4));
    text.push_str(&reasons_text(name, failure.reasons, width));
    if let Some(next) = next {
        text.push_str(&below("  Next: ", "  Next: ", next, width, 4));
    }
    text
}

/// Why a unit failed, below a line that says that it did.
fn reasons_text<'a>(name: &Name, reasons: impl IntoIterator<Item = &'a String>, width: usize) -> String {
    let mut text = String::new();
    for reason in reasons {
        let said = reason.strip_prefix(&format!("{name}: ")).unwrap_or(reason).trim_end();
        for line in both_ends(wrapped(said, width - 4, width - 4)) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

/// All lines, or the first and the last ones with how many are left out.
fn both_ends(mut lines: Vec<String>) -> Vec<String> {
    let left_out = lines.len().saturating_sub(FIRST_LINES + LAST_LINES);
    if left_out > 0 {
        let said = format!("… {left_out} more lines: eos status --json");
        lines.splice(FIRST_LINES..FIRST_LINES + left_out, [said]);
    }
    lines
}
