//! The lines of a plan: what is done to which resource, where, and in a few words why.

use std::collections::BTreeSet;

use eos_compile::OPERATIONS;
use eos_engine::change::{Fate, LEFT_ELSEWHERE};
use eos_engine::{Change, ChangeKind, Goal, OneOff, RunPlan, SettingChange, Touch, UnitPlan, Verdict};
use eos_model::{EnvName, Name};

use super::changed;
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
    /// An operation that is carried out: nothing is made that stays.
    pub once: bool,
}

pub fn lines(plan: &RunPlan, previews: &Previews) -> Vec<Line> {
    let radius = |name: &Name| plan.units.get(name).map_or(0, |unit| unit.blast_radius);
    let mut lines: Vec<Line> = plan
        .changes()
        .into_iter()
        .map(|change| Line {
            kind: change.kind,
            unit: change.unit.to_string(),
            resource: shown(change),
            host: change.host.clone().unwrap_or_else(|| "-".to_owned()),
            radius: radius(&change.unit),
            note: match (note(plan, change, previews), plan.units.get(&change.unit).and_then(awaited)) {
                (note, None) => note,
                (note, Some(later)) if note.is_empty() => later,
                (note, Some(later)) => format!("{note}; more is {later}"),
            },
            known_later: false,
            once: change.operation.is_some() && change.kind == ChangeKind::Create,
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
                once: false,
            })),
            Verdict::Changes { changes, .. } if changes.is_empty() && unit.goal == Goal::Gone => {
                lines.push(Line {
                    kind: ChangeKind::Destroy,
                    unit: name.to_string(),
                    resource: "-".to_owned(),
                    host: "-".to_owned(),
                    radius: unit.blast_radius,
                    note: "nothing of it is left to destroy".to_owned(),
                    known_later: false,
                    once: false,
                });
            }
            Verdict::Changes { changes, outputs, .. } if changes.is_empty() => lines.push(Line {
                kind: if unit.applied.is_some() { ChangeKind::Update } else { ChangeKind::Create },
                unit: name.to_string(),
                resource: "outputs".to_owned(),
                host: "-".to_owned(),
                radius: unit.blast_radius,
                note: outputs.keys().cloned().collect::<Vec<_>>().join(", "),
                known_later: false,
                once: false,
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

/// Longer words would leave no room for notes; all of them are said there then.
const MOST_WORDS: usize = 32;

/// The resource, or of an operation what it does. One whose record goes is known by its id alone, which ends in that.
fn shown(change: &Change) -> String {
    if let Some(operation) = &change.operation {
        let words = &operation.words;
        let is_short = words.chars().count() <= MOST_WORDS;
        return if is_short { words.clone() } else { words.split(' ').take(2).collect::<Vec<_>>().join(" ") };
    }
    let resource = resource(&change.address);
    match resource.splitn(3, '_').collect::<Vec<_>>().as_slice() {
        [_, _, words] if change.unit.as_str() == OPERATIONS => {
            format!("record of {}", words.replace('_', " "))
        }
        _ => resource,
    }
}

/// What an operation means for data; first of all the words there was no room for beside it.
fn operation_note(operation: &OneOff) -> String {
    let risk = match operation.data {
        Touch::Untouched => "",
        Touch::Stays => "data stays",
        Touch::AtRisk => "DATA AT RISK",
        Touch::Unknown => "data may be at risk",
    };
    match (risk, operation.words.chars().count() > MOST_WORDS) {
        (risk, false) => risk.to_owned(),
        ("", true) => operation.words.clone(),
        (risk, true) => format!("{risk}: {}", operation.words),
    }
}

/// The name under which a provider previews a change.
pub fn preview_key(env: &EnvName, change: &Change) -> String {
    format!("{env}/{}/{}", change.unit, resource(&change.address))
}

fn note(plan: &RunPlan, change: &Change, previews: &Previews) -> String {
    if change.reason.as_deref() == Some(LEFT_ELSEWHERE) {
        let then = if change.kind == ChangeKind::Forget { "; its data is kept" } else { "" };
        return format!("a run that was cut off may have made it{then}");
    }
    if let Some(operation) = &change.operation {
        return operation_note(operation);
    }
    if change.unit.as_str() == OPERATIONS && change.kind == ChangeKind::Destroy {
        return "what it did stays done".to_owned();
    }
    let settings = settings_told_here(plan, change);
    if let Some(data) = &change.data {
        // Where it lies is said below the rows, with room for it.
        let fate = match data.fate {
            Fate::Lost => "DATA IS LOST".to_owned(),
            Fate::Kept => "its data is kept".to_owned(),
            Fate::Stays if is_told_of_volumes(plan, &change.unit) => String::new(),
            Fate::Stays => "its data stays".to_owned(),
        };
        let told = changed::settings(settings, "");
        return [fate, told].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    }
    let preview = previews.get(&preview_key(&plan.env, change));
    let first = |text: &String| text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    if let Some(line) = preview.and_then(first)
        && change.kind != ChangeKind::Create
    {
        let causes = plan.units.get(&change.unit).map(|unit| unit.causes.as_slice()).unwrap_or_default();
        return if settings.is_empty() {
            changed::because(&line, causes)
        } else {
            changed::settings(settings, &line)
        };
    }
    if change.reason.as_deref() == Some("replace_because_tainted") {
        return "half-made by a run that failed".to_owned();
    }
    if change.fields.iter().any(|field| field.path == "in_sync") && change.fields.len() == 1 {
        return "drifted: what runs is not what was applied".to_owned();
    }
    let told = changed::settings(settings, "");
    let fields =
        || change.fields.iter().filter(|field| !matches!(field.path.as_str(), "in_sync" | "modify_index"));
    let forcing: Vec<&str> =
        fields().filter(|field| field.forces_replacement).map(|field| field.path.as_str()).collect();
    match (change.kind, told.is_empty()) {
        (ChangeKind::Replace, _) if !forcing.is_empty() => {
            let because = format!("because of {}", forcing.join(", "));
            if told.is_empty() { because } else { format!("{told}, {because}") }
        }
        (ChangeKind::Replace, _) | (_, false) => told,
        (_, true) => changed::fields(&fields().collect::<Vec<_>>()),
    }
}

/// The settings of a unit, where this row is the one that tells them: its job's, or the first that changes.
fn settings_told_here<'p>(plan: &'p RunPlan, change: &Change) -> &'p [SettingChange] {
    let Some(unit) = plan.units.get(&change.unit) else { return &[] };
    let is_job = |change: &Change| change.address.starts_with("eos_nomad_job.");
    let tell =
        || unit.changes().iter().filter(|it| matches!(it.kind, ChangeKind::Update | ChangeKind::Replace));
    let teller = tell().find(|change| is_job(change)).or_else(|| tell().next());
    if teller.is_some_and(|teller| teller.address == change.address) { &unit.settings } else { &[] }
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
    let (mut at_risk, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    let mut taken_over = BTreeSet::new();
    for change in plan.changes() {
        if change.kind == ChangeKind::Adopt && change.address.starts_with("eos_nomad_job.") {
            taken_over.insert(change.unit.to_string());
        }
        if let Some(operation) = &change.operation {
            let because = operation.because.as_ref().map(|because| format!(" ({because})"));
            let said = format!("{}{}", operation.words, because.unwrap_or_default());
            match operation.data {
                Touch::Untouched => false,
                Touch::Stays => kept.insert(said),
                Touch::AtRisk => at_risk.insert(said),
                Touch::Unknown => unknown.insert(said),
            };
            continue;
        }
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
    let red = |head: &str| style.red(head);
    let plain = |head: &str| head.to_owned();
    let mut out = String::new();
    let mut say = |head: &str, paint: &dyn Fn(&str) -> String, found: &BTreeSet<String>| {
        if !found.is_empty() {
            out.push_str(&below(head, &paint(head), &list(found), width, 2));
        }
    };
    say("Data that is lost: ", &red, &lost);
    say("Data at risk: ", &red, &at_risk);
    say("Data that may be at risk, its kind does not say: ", &red, &unknown);
    say("Data of a job that is taken over, eos does not know where it is: ", &red, &taken_over);
    say("Data that is kept: ", &plain, &kept);
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
            once: false,
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

    /// Words, what becomes of data, why.
    type Told<'a> = (&'a str, Touch, &'a str);

    /// A plan of operations alone, by their addresses.
    fn operations(all: &[(&str, ChangeKind, Option<Told<'_>>)]) -> RunPlan {
        let change = |(id, kind, told): &(&str, ChangeKind, Option<Told<'_>>)| {
            let said = told.map(|(words, data, because)| {
                serde_json::json!({"words": words, "data": data, "because": because})
            });
            serde_json::json!({
                "unit": OPERATIONS, "address": format!("eos_salt_state.operation_{id}"), "kind": kind, "provider": "",
                "id": null, "host": "local", "reason": null, "fields": [], "data": null, "operation": said,
            })
        };
        let changes: Vec<_> = all.iter().map(change).collect();
        let unit = serde_json::json!({
            "goal": "present", "digest": "sha256:0", "applied": null, "kind": OPERATIONS, "host": null, "after": {},
            "blast_radius": 0, "inputs": {}, "treatment": {}, "warnings": [],
            "verdict": {"verdict": "changes", "changes": changes, "outputs": {}, "tfplan": ""},
        });
        let plan = serde_json::json!({
            "env": "production", "commit": "", "at": 0, "units": {OPERATIONS: unit}, "order": [OPERATIONS],
        });
        serde_json::from_value(plan).unwrap()
    }

    #[test]
    fn an_operation_says_what_it_does_and_what_becomes_of_data() {
        let create = ChangeKind::Create;
        let long = "convert filesystem /srv/a/very/long/way/down btrfs --compression lzo";
        let plan = operations(&[
            (
                "1_a_convert_filesystem",
                create,
                Some(("convert filesystem /data btrfs", Touch::AtRisk, "rewritten")),
            ),
            ("2_b_convert_filesystem", create, Some((long, Touch::AtRisk, "rewritten"))),
            ("3_c_resize_lvm", create, Some(("resize lvm books +5G", Touch::Stays, "it grows"))),
            ("4_d_shake_tree", create, Some(("shake tree", Touch::Unknown, "shaken"))),
            ("5_e_update_agents", create, Some(("update agents", Touch::Untouched, ""))),
            ("6_f_resize_lvm", ChangeKind::Destroy, None),
        ]);
        let shown: Vec<(String, String)> = lines(&plan, &Previews::new())
            .into_iter()
            .map(|line| (format!("{}{}", if line.once { "once: " } else { "" }, line.resource), line.note))
            .collect();
        let expected = [
            ("record of resize lvm", "what it did stays done"),
            ("once: convert filesystem /data btrfs", "DATA AT RISK"),
            ("once: convert filesystem", &format!("DATA AT RISK: {long}")),
            ("once: resize lvm books +5G", "data stays"),
            ("once: shake tree", "data may be at risk"),
            ("once: update agents", ""),
        ];
        assert_eq!(shown, expected.map(|(resource, note)| (resource.to_owned(), note.to_owned())));
        let said = data(&plan, usize::MAX, Style(false));
        let expected = [
            format!("Data at risk: convert filesystem /data btrfs (rewritten); {long} (rewritten)"),
            "Data that may be at risk, its kind does not say: shake tree (shaken)".to_owned(),
            "Data that is kept: resize lvm books +5G (it grows)".to_owned(),
        ];
        assert_eq!(said.lines().collect::<Vec<_>>(), expected);
        let harmless =
            operations(&[("5_e_update_agents", create, Some(("update agents", Touch::Untouched, "")))]);
        assert_eq!(data(&harmless, usize::MAX, Style(false)), "No data is at risk.\n");
    }
}
