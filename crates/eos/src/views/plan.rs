//! A plan on one screen: what is destroyed first, then replaced, changed and created; a line each with its host, how
//! many units need it, and what becomes of data. What cannot be known yet says after what it will be.

use std::collections::{BTreeMap, BTreeSet};

use eos_engine::change::Fate;
use eos_engine::{Change, ChangeKind, RunPlan, UnitPlan, Verdict};
use eos_model::{Diagnostic, EnvName, Name, codes};
use serde_json::{Value as Json, json};

use super::style::Style;
use super::table::{Paint, Table};
use super::wrap::wrapped;

/// Previews of Nomad and Salt, by the resource's own name.
pub type Previews = BTreeMap<String, String>;

/// One line of the screen.
struct Line {
    kind: ChangeKind,
    unit: String,
    resource: String,
    host: String,
    radius: usize,
    note: String,
}

pub fn text(plan: &RunPlan, previews: &Previews, width: usize, color: bool) -> String {
    let style = Style(color);
    let env = &plan.env;
    if plan.units.is_empty() {
        return format!("{env} has no units: nothing to do.\n");
    }
    if plan.is_empty() {
        return format!(
            "{env} is as the pillar says: nothing to do for {}.\n",
            counted(plan.units.len(), "unit")
        );
    }
    let title = wrapped(&format!("Plan for {env}: {}", summary(plan)), width, width.saturating_sub(2));
    let title: Vec<String> = title.iter().map(|line| style.bold(line)).collect();
    let mut out = format!("{}\n\n", title.join("\n  "));
    out.push_str(&table(lines(plan, previews), width).render(width, color));
    out.push('\n');
    let quiet = plan.units.values().filter(|unit| !has_lines(unit)).count();
    if quiet > 0 {
        out.push_str(
            &style.dim(&format!("{}.\n", counted(quiet, "unit stays as it is|units stay as they are"))),
        );
    }
    out.push_str(&data(plan, style));
    let mut silent: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, unit) in &plan.units {
        for warning in unit.warnings.iter().filter(|warning| !is_said(unit, warning)) {
            if let Some(server) = unreachable(warning) {
                let units = silent.entry(server).or_default();
                if units.last() != Some(&name.as_str()) {
                    units.push(name.as_str());
                }
                continue;
            }
            let first = warning.lines().next().unwrap_or_default();
            let lines =
                wrapped(&format!("{name}: {first}"), width.saturating_sub(5), width.saturating_sub(7));
            out.push_str(&format!("{} {}\n", style.yellow("note"), lines.join("\n       ")));
        }
    }
    for (server, units) in silent {
        let text = format!(
            "{server} cannot be reached: what it makes of {} is known when they are applied",
            units.join(", ")
        );
        let lines = wrapped(&text, width.saturating_sub(5), width.saturating_sub(7));
        out.push_str(&format!("{} {}\n", style.yellow("note"), lines.join("\n       ")));
    }
    out
}

/// Why what was planned cannot be carried out now: a server that work is for does not answer. Tofu would find out half-way.
pub fn unreached(plan: &RunPlan) -> Option<Diagnostic> {
    let mut units = plan.units.iter().filter(|(_, unit)| unit.is_work());
    units.find_map(|(name, unit)| {
        let server = unit.warnings.iter().find_map(|warning| unreachable(warning))?;
        let problem =
            Diagnostic::error(codes::NOT_REACHED, format!("{server} cannot be reached, and {name} needs it"));
        Some(problem.why("nothing was recorded and nothing was begun").fix(
            "start it, or say where it is: eos.toml, or the environment; eos plan shows the plan without it",
        ))
    })
}

/// The server that could not be asked: said once, not once a unit.
fn unreachable(warning: &str) -> Option<&str> {
    let (before, _) = warning.split_once(" cannot be reached")?;
    let start = before.rfind("Nomad at ").or_else(|| before.rfind("salt-api at "))?;
    Some(&before[start..])
}

/// A row a line. Hosts have a column when there are any; what a note has no room for goes on below.
fn table(lines: Vec<Line>, width: usize) -> Table {
    let hosts = lines.iter().any(|line| line.host != "-");
    let mut head = vec!["ACTION", "UNIT", "RESOURCE"];
    head.extend(hosts.then_some("HOST").into_iter().chain(["NEEDED BY", "NOTE"]));
    let row = |line: Line| {
        let needed = if line.radius == 0 { "-".to_owned() } else { counted(line.radius, "unit") };
        let mut cells = vec![verb(line.kind).to_owned(), line.unit, line.resource];
        cells.extend(hosts.then_some(line.host).into_iter().chain([needed]));
        (line.kind, cells, line.note)
    };
    let rows: Vec<_> = lines.into_iter().map(row).collect();
    let before = head.len() - 1;
    let column = |index: usize| {
        let cells = rows.iter().map(|(_, cells, _)| cells[index].chars().count());
        cells.chain([head[index].len()]).max().unwrap_or(0) + 2
    };
    let room = width.saturating_sub((0..before).map(column).sum());
    let mut table = Table::new(&head);
    for (kind, mut cells, note) in rows {
        let parts = if room < NARROW { vec![note] } else { wrapped(&note, room, room) };
        let mut parts = parts.into_iter();
        cells.push(parts.next().unwrap_or_default());
        table.painted(cells, paint(kind));
        for part in parts {
            table.row([vec![String::new(); before], vec![part]].concat());
        }
    }
    table
}

/// A note with less room than this is cut instead.
const NARROW: usize = 20;

/// Tofu warns of what is left behind; the plan has a line for each of it already.
fn is_said(unit: &UnitPlan, warning: &str) -> bool {
    let mut left = unit.changes().iter().filter(|change| change.kind == ChangeKind::Forget);
    left.any(|change| warning.contains(&change.address))
}

/// For a pull request.
pub fn markdown(plan: &RunPlan, previews: &Previews) -> String {
    let env = &plan.env;
    if plan.is_empty() {
        return format!("### {env}: nothing to do\n");
    }
    let mut out = format!(
        "### {env}: {}\n\n| action | unit | resource | host | needed by | note |\n|---|---|---|---|---|---|\n",
        summary(plan)
    );
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    for line in lines(plan, previews) {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            verb(line.kind),
            cell(&line.unit),
            cell(&line.resource),
            cell(&line.host),
            line.radius,
            cell(&line.note)
        ));
    }
    out.push_str(&format!("\n{}", data(plan, Style(false))));
    out
}

/// For machines: everything but the saved plans.
pub fn document(plan: &RunPlan, previews: &Previews) -> Json {
    let mut document = json!(plan);
    if let Some(units) = document["units"].as_object_mut() {
        for (_, unit) in units {
            if let Some(verdict) = unit["verdict"].as_object_mut() {
                verdict.remove("tfplan");
            }
        }
    }
    document["previews"] = json!(previews);
    document["changes"] = json!(!plan.is_empty());
    document
}

/// `1 to destroy, 3 to create`.
pub fn summary(plan: &RunPlan) -> String {
    use ChangeKind::{Adopt, Create, Destroy, Forget, Replace, Update};
    let later: usize = plan.units.values().map(|unit| later(unit).len()).sum();
    let kinds = [
        (Destroy, "to destroy"),
        (Forget, "to leave behind with its data"),
        (Replace, "to replace"),
        (Update, "to change"),
        (Create, "to create"),
        (Adopt, "to take over"),
    ];
    let mut parts: Vec<String> = kinds
        .iter()
        .map(|(kind, words)| (plan.count(*kind), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    if later > 0 {
        parts.push(format!("{later} known later"));
    }
    if parts.is_empty() { "only outputs change".to_owned() } else { parts.join(", ") }
}

/// Resources of which nothing is known yet but that they may change.
fn later(unit: &UnitPlan) -> Vec<&String> {
    let Verdict::Envelope { creates, foreseen, .. } = &unit.verdict else { return Vec::new() };
    creates.iter().filter(|address| !foreseen.iter().any(|change| change.address == **address)).collect()
}

/// `known after ledger's url`, of a unit that waits for others.
fn awaited(unit: &UnitPlan) -> Option<String> {
    let Verdict::Envelope { waits_for, .. } = &unit.verdict else { return None };
    let awaited: Vec<String> = waits_for.iter().map(|one| format!("{}'s {}", one.unit, one.output)).collect();
    Some(format!("known after {}", awaited.join(", ")))
}

fn lines(plan: &RunPlan, previews: &Previews) -> Vec<Line> {
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
            })),
            Verdict::Changes { changes, outputs, .. } if changes.is_empty() => lines.push(Line {
                kind: ChangeKind::Update,
                unit: name.to_string(),
                resource: "outputs".to_owned(),
                host: "-".to_owned(),
                radius: unit.blast_radius,
                note: outputs.keys().cloned().collect::<Vec<_>>().join(", "),
            }),
            _ => {}
        }
    }
    together(lines)
}

/// What a unit creates without a word to say about it is one line: `volumes, job`.
fn together(lines: Vec<Line>) -> Vec<Line> {
    let mut merged: Vec<Line> = Vec::new();
    for line in lines {
        let plain = |one: &Line| one.kind == ChangeKind::Create && one.note.is_empty();
        match merged.last_mut() {
            Some(last)
                if plain(last) && plain(&line) && (&last.unit, &last.host) == (&line.unit, &line.host) =>
            {
                // The job comes last, as it does when it is applied.
                last.resource = if last.resource == "job" {
                    format!("{}, job", line.resource)
                } else if let Some(before) = last.resource.strip_suffix(", job") {
                    format!("{before}, {}, job", line.resource)
                } else {
                    format!("{}, {}", last.resource, line.resource)
                };
            }
            _ => merged.push(line),
        }
    }
    merged
}

fn has_lines(unit: &UnitPlan) -> bool {
    matches!(unit.verdict, Verdict::Changes { .. } | Verdict::Envelope { .. })
}

/// The resource as eos names it: `job` and `volumes` say enough.
pub fn resource(address: &str) -> String {
    let own = address.strip_prefix("eos_nomad_job.").or_else(|| address.strip_prefix("eos_salt_state."));
    own.unwrap_or(address).to_owned()
}

/// The name under which a provider previews a change.
pub fn preview_key(env: &EnvName, change: &Change) -> String {
    format!("{env}/{}/{}", change.unit, resource(&change.address))
}

fn note(plan: &RunPlan, change: &Change, previews: &Previews) -> String {
    if let Some(data) = &change.data {
        let places = data.places.join(", ");
        let place =
            |text: &str| if places.is_empty() { text.to_owned() } else { format!("{text}: {places}") };
        return match data.fate {
            Fate::Lost => place("DATA IS LOST"),
            Fate::Kept => place("its data is kept"),
            Fate::Stays if loses_data(plan, &change.unit) => String::new(),
            Fate::Stays => place("its data stays"),
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

fn loses_data(plan: &RunPlan, unit: &Name) -> bool {
    let lost = |change: &Change| change.data.as_ref().is_some_and(|data| data.fate == Fate::Lost);
    plan.changes().iter().any(|change| change.unit == *unit && lost(change))
}

/// What the plan means for data, always said.
fn data(plan: &RunPlan, style: Style) -> String {
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
                let volumes = plan.changes().iter().any(|other| {
                    other.unit == change.unit
                        && other.data.as_ref().is_some_and(|data| data.fate != Fate::Stays)
                });
                !volumes && kept.insert(format!("{} ({places})", change.unit))
            }
        };
    }
    let list = |found: &BTreeSet<String>| found.iter().cloned().collect::<Vec<_>>().join("; ");
    let mut out = String::new();
    if !lost.is_empty() {
        out.push_str(&format!("{} {}\n", style.red("Data that is lost:"), list(&lost)));
    }
    if !kept.is_empty() {
        out.push_str(&format!("Data that is kept: {}\n", list(&kept)));
    }
    if out.is_empty() { "No data is at risk.\n".to_owned() } else { out }
}

fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Destroy => "- destroy",
        ChangeKind::Forget => "- leave",
        ChangeKind::Replace => "± replace",
        ChangeKind::Update => "~ change",
        ChangeKind::Create => "+ create",
        ChangeKind::Adopt => "= take over",
    }
}

fn paint(kind: ChangeKind) -> Paint {
    match kind {
        ChangeKind::Destroy | ChangeKind::Replace => Style::red,
        ChangeKind::Forget | ChangeKind::Update => Style::yellow,
        ChangeKind::Create | ChangeKind::Adopt => Style::green,
    }
}

/// `1 unit`, `2 units`; or both forms given, with a bar between.
pub fn counted(count: usize, word: &str) -> String {
    let (one, many) = match word.split_once('|') {
        Some((one, many)) => (one.to_owned(), many.to_owned()),
        None => (word.to_owned(), format!("{word}s")),
    };
    format!("{count} {}", if count == 1 { one } else { many })
}
