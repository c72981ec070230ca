//! How a run ended: what is done and where it answers, what is not and what to do about it.

use std::collections::BTreeMap;

use eos_engine::record::Goal;
use eos_engine::{Outcome as Ending, Report, UnitState};
use eos_model::Name;
use serde_json::{Value as Json, json};

use super::plan::counted;
use super::style::Style;
use super::table::{Paint, Table};
use crate::exit_code;

/// Outputs of units, by name.
pub type Outputs = BTreeMap<Name, BTreeMap<String, Json>>;

pub fn text(report: &Report, outputs: &Outputs, seconds: u64, width: usize, color: bool) -> String {
    let style = Style(color);
    let mut table = Table::new(&["UNIT", "STATE", "WHERE"]);
    for (name, unit) in &report.units {
        let state = match (unit.state, unit.goal) {
            (UnitState::Done, Goal::Gone) => "gone".to_owned(),
            (state, _) => state.as_str().to_owned(),
        };
        let note = match unit.state {
            UnitState::Done if unit.goal == Goal::Present => {
                outputs.get(name).map(address).unwrap_or_default()
            }
            _ => unit.reasons.first().and_then(|reason| reason.lines().next()).unwrap_or_default().to_owned(),
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
    let took = format!("{} in {seconds} s{run}", counted(report.units.len(), "unit"));
    out.push_str(&match report.outcome {
        Ending::Done => format!("{} {took}.\n", style.green("Done:")),
        Ending::Undone => format!("{} {took}: everything is as it was before.\n", style.green("Taken back:")),
        Ending::Failed => format!(
            "{} {took}. eos status shows what is half-done; then eos resume or eos undo.\n",
            style.red("Failed:")
        ),
        Ending::Stopped => {
            format!(
                "{} {took}. Go on with eos resume, or take it back with eos undo.\n",
                style.yellow("Stopped:")
            )
        }
        Ending::Stuck => {
            format!("{} {took}. A person is needed: eos status says for what.\n", style.red("Stuck:"))
        }
        Ending::Superseded => format!("A later run took over ({took}).\n"),
    });
    out
}

/// Where a unit answers: its url, else its address, else nothing.
fn address(outputs: &BTreeMap<String, Json>) -> String {
    let found = ["url", "address"].iter().find_map(|key| outputs.get(*key)?.as_str());
    found.unwrap_or_default().to_owned()
}

pub fn document(report: &Report, outputs: &Outputs) -> Json {
    let mut document = json!(report);
    document["outputs"] = json!(outputs);
    document
}

pub fn exit(report: &Report) -> u8 {
    match report.outcome {
        Ending::Done | Ending::Undone | Ending::Superseded => 0,
        Ending::Failed | Ending::Stopped => exit_code::FAILED,
        Ending::Stuck => exit_code::STUCK,
    }
}
