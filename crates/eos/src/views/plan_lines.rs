//! The lines of a plan: what is done to which resource, where, and in a few words why.

use std::collections::BTreeSet;

use eos_compile::OPERATIONS;
use eos_engine::change::Fate;
use eos_engine::{Change, ChangeKind, RunPlan, UnitPlan, Verdict};
use eos_model::{EnvName, Name};

use super::plan::Previews;
use super::style::Style;
use super::wrap::below;

/// One line of the screen.
pub struct Line {
    pub kind: ChangeKind,
    pub unit: String,
    pub resource: String,
    pub host: String,
    pub radius: usize,
    pub note: String,
    /// Nothing is known of it yet but that it may happen.
    pub known_later: bool,
}

pub fn lines(plan: &RunPlan, previews: &Previews) -> Vec<Line> {
    let radius = |name: &Name| plan.units.get(name).map_or(0, |unit| unit.blast_radius);
    let mut lines: Vec<Line> = plan
        .changes()
        .into_iter()
        .map(|change| Line {
            kind: change.kind,
            unit: change.unit.to_string(),
            resource: resource(&change.address),
            host: change.host.clone().unwrap_or_else(|| "-".to_owned()),
            radius: radius(&change.unit),
            note: match (note(plan, change, previews), plan.units.get(&change.unit).and_then(awaited)) {
                (note, None) => note,
                (note, Some(later)) if note.is_empty() => later,
                (note, Some(later)) => format!("{note}; more is {later}"),
            },
            known_later: false,
        })
        .collect();
    for name in &plan.order {
        let Some(unit) = plan.units.get(name) else { continue };
        match &unit.verdict {
            Verdict::Envelope { updates, .. } => lines.extend(later(unit).into_iter().map(|address| Line {
                kind: if *updates { ChangeKind::Update } else { ChangeKind::Create },
                unit: name.to_string(),
                resource: resource(address),
                host: unit.host.clone().unwrap_or_else(|| "-".to_owned()),
                radius: unit.blast_radius,
                note: awaited(unit).unwrap_or_default(),
                known_later: true,
            })),
            Verdict::Changes { changes, outputs, .. } if changes.is_empty() => lines.push(Line {
                kind: if unit.applied.is_some() { ChangeKind::Update } else { ChangeKind::Create },
                unit: name.to_string(),
                resource: "outputs".to_owned(),
                host: "-".to_owned(),
                radius: unit.blast_radius,
                note: outputs.keys().cloned().collect::<Vec<_>>().join(", "),
                known_later: false,
            }),
            _ => {}
        }
    }
    // Within a kind what is known comes first; units stay in the order they are done.
    lines.sort_by_key(|line| (line.kind, line.known_later));
    together(lines)
}

/// What a unit creates without a word to say about it is one line: `volumes, job`.
fn together(lines: Vec<Line>) -> Vec<Line> {
    let mut merged: Vec<Line> = Vec::new();
    for line in lines {
        // Of operations each is a line: they have nothing to do with each other.
        let plain =
            |one: &Line| one.kind == ChangeKind::Create && one.note.is_empty() && one.unit != OPERATIONS;
        match merged.last_mut() {
            Some(last)
                if plain(last) && plain(&line) && (&last.unit, &last.host) == (&line.unit, &line.host) =>
            {
                let more = without_type(&line.resource, &last.resource);
                // The job comes last, as it does when it is applied.
                last.resource = if last.resource == "job" {
                    format!("{more}, job")
                } else if let Some(before) = last.resource.strip_suffix(", job") {
                    format!("{before}, {more}, job")
                } else {
                    format!("{}, {more}", last.resource)
                };
            }
            _ => merged.push(line),
        }
    }
    merged
}

/// `shelf` behind `terraform_data.book`, whose type it has.
fn without_type<'a>(resource: &'a str, before: &str) -> &'a str {
    let known = before.rsplit_once('.').map(|(kinds, _)| kinds.rsplit(", ").next().unwrap_or(kinds));
    match resource.rsplit_once('.') {
        Some((kind, name)) if Some(kind) == known => name,
        _ => resource,
    }
}

/// Resources of which nothing is known yet but that they may change.
pub fn later(unit: &UnitPlan) -> Vec<&String> {
    let Verdict::Envelope { creates, foreseen, .. } = &unit.verdict else { return Vec::new() };
    creates.iter().filter(|address| !foreseen.iter().any(|change| change.address == **address)).collect()
}

/// `known after ledger's url`, of a unit that waits for others.
fn awaited(unit: &UnitPlan) -> Option<String> {
    let Verdict::Envelope { waits_for, .. } = &unit.verdict else { return None };
    let awaited: Vec<String> = waits_for.iter().map(|one| format!("{}'s {}", one.unit, one.output)).collect();
    Some(format!("known after {}", awaited.join(", ")))
}

/// The resource as eos names it: `job` and `volumes` say enough, and of an operation its id.
pub fn resource(address: &str) -> String {
    let own = address.strip_prefix("eos_nomad_job.").or_else(|| address.strip_prefix("eos_salt_state."));
    let own = own.unwrap_or(address);
    own.strip_prefix("operation_").unwrap_or(own).to_owned()
}

/// The name under which a provider previews a change.
pub fn preview_key(env: &EnvName, change: &Change) -> String {
    format!("{env}/{}/{}", change.unit, resource(&change.address))
}

fn note(plan: &RunPlan, change: &Change, previews: &Previews) -> String {
    if let Some(data) = &change.data {
        // Where it lies is said below the rows, with room for it.
        return match data.fate {
            Fate::Lost => "DATA IS LOST".to_owned(),
            Fate::Kept => "its data is kept".to_owned(),
            Fate::Stays if is_told_of_volumes(plan, &change.unit) => String::new(),
            Fate::Stays => "its data stays".to_owned(),
        };
    }
    let preview = previews.get(&preview_key(&plan.env, change));
    let first = |text: &String| text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    if let Some(line) = preview.and_then(first)
        && change.kind != ChangeKind::Create
    {
        return line;
    }
    if change.reason.as_deref() == Some("replace_because_tainted") {
        return "half-made by a run that failed".to_owned();
    }
    if change.fields.iter().any(|field| field.path == "in_sync") && change.fields.len() == 1 {
        return "drifted: what runs is not what was applied".to_owned();
    }
    let mut paths: Vec<&str> = change.fields.iter().map(|field| field.path.as_str()).collect();
    paths.retain(|path| !matches!(*path, "in_sync" | "modify_index"));
    match (change.kind, paths.as_slice()) {
        (ChangeKind::Replace, _) => {
            let forcing: Vec<&str> = change
                .fields
                .iter()
                .filter(|field| field.forces_replacement)
                .map(|field| field.path.as_str())
                .collect();
            if forcing.is_empty() { String::new() } else { format!("because of {}", forcing.join(", ")) }
        }
        (_, []) => String::new(),
        (_, [one]) => (*one).to_owned(),
        (_, more) if more.len() <= 3 => more.join(", "),
        (_, more) => format!("{} and {} more", more[..2].join(", "), more.len() - 2),
    }
}

/// Whether another row of the unit says what becomes of its data: that of the volumes themselves.
fn is_told_of_volumes(plan: &RunPlan, unit: &Name) -> bool {
    let tells = |change: &Change| change.data.as_ref().is_some_and(|data| data.fate != Fate::Stays);
    plan.units.get(unit).is_some_and(|unit| unit.changes().iter().any(tells))
}

/// What the plan means for data, always said.
pub fn data(plan: &RunPlan, width: usize, style: Style) -> String {
    let mut lost = BTreeSet::new();
    let mut kept = BTreeSet::new();
    for change in plan.changes() {
        let Some(data) = &change.data else { continue };
        let places = match (data.places.as_slice(), data.classes.as_slice()) {
            ([], []) => change.address.clone(),
            ([], classes) => classes.join(", "),
            (places, _) => places.join(", "),
        };
        match data.fate {
            Fate::Lost => lost.insert(format!("{} ({places})", change.unit)),
            Fate::Kept => kept.insert(format!("{} ({places})", change.unit)),
            // A job goes and what it used stays: said where the volumes themselves are, if they go too.
            Fate::Stays => {
                !is_told_of_volumes(plan, &change.unit) && kept.insert(format!("{} ({places})", change.unit))
            }
        };
    }
    let list = |found: &BTreeSet<String>| found.iter().cloned().collect::<Vec<_>>().join("; ");
    let mut out = String::new();
    if !lost.is_empty() {
        let head = "Data that is lost: ";
        out.push_str(&below(head, &style.red(head), &list(&lost), width, 2));
    }
    if !kept.is_empty() {
        let head = "Data that is kept: ";
        out.push_str(&below(head, head, &list(&kept), width, 2));
    }
    if out.is_empty() { "No data is at risk.\n".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_unit_creates_is_one_line_and_of_operations_each_is_one() {
        let line = |unit: &str, address: &str| Line {
            kind: ChangeKind::Create,
            unit: unit.to_owned(),
            resource: resource(address),
            host: "local".to_owned(),
            radius: 0,
            known_later: false,
            note: String::new(),
        };
        let lines = together(vec![
            line("redis", "eos_nomad_job.job"),
            line("redis", "eos_salt_state.volumes"),
            line("desk", "terraform_data.book"),
            line("desk", "terraform_data.shelf"),
            line("desk", "random_id.mark"),
            line(OPERATIONS, "eos_salt_state.operation_20261116t043000_3f9a_resize_lvm"),
            line(OPERATIONS, "eos_salt_state.operation_20261116t043001_77b0_resize_lvm"),
        ]);
        let shown: Vec<&str> = lines.iter().map(|line| line.resource.as_str()).collect();
        assert_eq!(
            shown,
            [
                "volumes, job",
                "terraform_data.book, shelf, random_id.mark",
                "20261116t043000_3f9a_resize_lvm",
                "20261116t043001_77b0_resize_lvm"
            ]
        );
    }
}
