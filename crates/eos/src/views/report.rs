//! How a run ended: what is done and where it answers, what is not and what to do about it.

use std::collections::BTreeMap;

use eos_engine::record::{Direction, Goal};
use eos_engine::{Outcome as Ending, Report, UnitState};
use eos_model::{Code, Diagnostics, Name, Severity, codes};
use serde_json::{Value as Json, json};

use super::plan::counted;
use super::style::Style;
use super::table::{Paint, Table};
use super::wrap::below;
use crate::exit_code;

/// Outputs of units, by name.
pub type Outputs = BTreeMap<Name, BTreeMap<String, Json>>;

pub fn text(report: &Report, outputs: &Outputs, seconds: u64, width: usize, color: bool) -> String {
    let style = Style(color);
    let mut table = Table::new(&["UNIT", "STATE", "WHERE"]);
    for (name, unit) in &report.units {
        let state = match (unit.state, unit.goal) {
            (UnitState::Done, Goal::Gone) => "gone".to_owned(),
            (UnitState::Planned, _) => "not begun".to_owned(),
            (state, _) => state.as_str().to_owned(),
        };
        let note = match unit.state {
            UnitState::Done if unit.goal == Goal::Present => {
                outputs.get(name).map(address).unwrap_or_default()
            }
            UnitState::Stopped => "nothing is wrong with it: eos resume goes on".to_owned(),
            _ => unit.reasons.first().map(|reason| of_unit(name, reason)).unwrap_or_default(),
        };
        let paint: Paint = match unit.state {
            UnitState::Done | UnitState::Undone => Style::green,
            UnitState::Failed | UnitState::Stuck => Style::red,
            _ => Style::yellow,
        };
        table.painted(vec![name.to_string(), state, note], paint);
    }
    let mut out = if table.is_empty() { String::new() } else { table.render(width, color) };
    let run = report.run.as_ref().map(|run| format!(" (run {run})")).unwrap_or_default();
    let count = |state| report.units.values().filter(|unit| unit.state == state).count();
    let all = counted(report.units.len(), "unit");
    let took = format!("{all} in {seconds} s{run}");
    let undone = count(UnitState::Undone);
    let back = format!("{} in {seconds} s{run}", counted(undone, "unit"));
    // An undo that did not get to its end tells how far it came; what was never begun is not part of it.
    let part = match report.direction {
        Direction::Forward => format!("{} of {all} done in {seconds} s{run}", count(UnitState::Done)),
        Direction::Undo => {
            let begun = counted(report.units.len() - count(UnitState::Planned), "unit");
            format!("{undone} of {begun} taken back in {seconds} s{run}")
        }
    };
    let next = match report.direction {
        Direction::Forward => NEXT,
        Direction::Undo => NEXT_BACK,
    };
    out.push_str(&match report.outcome {
        Ending::Done => format!("{} {took}.\n", style.green("Done:")),
        Ending::Undone => format!("{} {back}{}", style.green("Taken back:"), as_before(report, width)),
        Ending::Failed if is_refused(report) => {
            format!("{} {part}.\nNext: eos plan shows what there is to do now.\n", style.red("Refused:"))
        }
        Ending::Failed => format!("{} {part}.\n{next}", style.red("Failed:")),
        Ending::Stopped => format!("{} {part}.\n{next}", style.yellow("Stopped:")),
        Ending::Stuck => {
            format!("{} {part}.\nA person is needed: eos status says for what.\n", style.red("Stuck:"))
        }
        Ending::Superseded => format!("A later run took over ({took}).\n"),
    });
    if let Some(commit) = &report.reverted {
        let commit = commit.get(..10).unwrap_or(commit);
        out.push_str(&format!("The pillar asks again for what it did before: commit {commit}.\n"));
    }
    out
}

/// What is not as it was before, if anything.
fn as_before(report: &Report, width: usize) -> String {
    let mut left = Vec::new();
    for unit in &report.stays {
        let name = &unit.unit;
        let done = unit.without_inverse.iter();
        left.extend(done.map(|(address, why)| format!("{name}: {address}, {why}")));
        left.extend(unit.keeps.iter().map(|address| format!("{name}: {address} stays, with its data")));
    }
    match left.is_empty() {
        true => ": everything is as it was before.\n".to_owned(),
        false => {
            let lines = left.iter().map(|line| below("  ", "  ", line, width, 4));
            format!(": as it was before, but for\n{}", lines.collect::<String>())
        }
    }
}

const NEXT: &str =
    "Next: eos resume goes on with it, eos undo takes it back; eos status shows what is half-done.\n";

const NEXT_BACK: &str = "Next: eos resume goes on taking it back; eos status shows what is half-done.\n";

/// The first line of what is said of a unit, without the name it begins with.
pub fn of_unit(name: &Name, reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    first.strip_prefix(&format!("{name}: ")).unwrap_or(first).trim_end().to_owned()
}

/// Where a unit answers: its url, else its address, else nothing.
fn address(outputs: &BTreeMap<String, Json>) -> String {
    let found = ["url", "address"].iter().find_map(|key| outputs.get(*key)?.as_str());
    found.unwrap_or_default().to_owned()
}

const PROVIDERS_CODES: &str = "E08";

/// What went wrong, as it is said at the end: of a run that was taken back nothing is left to resume.
pub fn problems(report: Report) -> Diagnostics {
    let mut problems = report.problems;
    if report.outcome == Ending::Undone {
        // Tofu's own words, or those of eos's provider, which have codes of their own.
        let of_an_apply =
            |code: Code| code == codes::APPLY_FAILED || code.as_str().starts_with(PROVIDERS_CODES);
        for problem in problems.0.iter_mut().filter(|problem| of_an_apply(problem.code)) {
            problem.why = Some("what had been done was taken back, in the pillar too".to_owned());
            problem.fix = Some("remove the cause, then ask for it again".to_owned());
        }
    }
    problems
}

pub fn document(report: &Report, outputs: &Outputs) -> Json {
    let mut document = json!(report);
    document["outputs"] = json!(outputs);
    document
}

/// A saved plan that no longer fits is refused by tofu before it does anything.
fn is_refused(report: &Report) -> bool {
    let mut errors =
        report.problems.0.iter().filter(|problem| problem.severity == Severity::Error).peekable();
    errors.peek().is_some() && errors.all(|problem| problem.code == codes::PLAN_STALE)
}

pub fn exit(report: &Report) -> u8 {
    match report.outcome {
        // Taken back since it failed: what was asked for is not there.
        Ending::Undone if report.problems.has_errors() => exit_code::FAILED,
        Ending::Done | Ending::Undone | Ending::Superseded => 0,
        Ending::Failed if is_refused(report) => exit_code::REFUSED,
        Ending::Failed | Ending::Stopped => exit_code::FAILED,
        Ending::Stuck => exit_code::STUCK,
    }
}
