//! A plan on one screen: what is destroyed first, then replaced, changed and created; a line each with its host, how
//! many units need it, and what becomes of data. What cannot be known yet says after what it will be.

use std::collections::BTreeMap;

pub use eos_engine::plan_file::Previews;
use eos_engine::{ChangeKind, Goal, RunPlan, UnitPlan, Verdict};
use eos_model::{Diagnostic, codes};
use serde_json::{Value as Json, json};

use super::cost::Cost;
use super::plan_lines::{Line, data, lines};
use super::style::Style;
use super::table::{Paint, Table};
use super::wrap::{below, wrapped};

pub fn text(plan: &RunPlan, previews: &Previews, cost: Option<&Cost>, width: usize, color: bool) -> String {
    let style = Style(color);
    let env = &plan.env;
    if plan.units.is_empty() {
        return format!("{env} has no units: nothing to do.\n");
    }
    if plan.is_empty() {
        return nothing_to_do(plan, width);
    }
    let lines = lines(plan, previews);
    let title =
        wrapped(&format!("Plan for {env}: {}", summary(plan, &lines)), width, width.saturating_sub(2));
    let title: Vec<String> = title.iter().map(|line| style.bold(line)).collect();
    let mut out = format!("{}\n\n", title.join("\n  "));
    out.push_str(&table(folded(lines), width).render(width, color));
    out.push('\n');
    let quiet = plan.units.values().filter(|unit| !has_lines(unit)).count();
    if quiet > 0 {
        out.push_str(
            &style.dim(&format!("{}.\n", counted(quiet, "unit stays as it is|units stay as they are"))),
        );
    }
    out.push_str(&data(plan, width, style));
    out.push_str(&cost.map_or_else(String::new, |cost| cost.text(width)));
    for (mark, text) in notes(plan) {
        let room = width.saturating_sub(mark.len() + 1);
        let lines = wrapped(&text, room, room.saturating_sub(2));
        let below = format!("\n{}", " ".repeat(mark.len() + 3));
        out.push_str(&format!("{} {}\n", style.yellow(mark), lines.join(&below)));
    }
    out
}

/// What is said below the rows, each with how grave it is: what tofu noted, what has no place, who did not answer.
fn notes(plan: &RunPlan) -> Vec<(&'static str, String)> {
    let (mut notes, mut silent): (Vec<_>, BTreeMap<&str, Vec<&str>>) = Default::default();
    for (name, unit) in &plan.units {
        if let Some(server) = &unit.unreached {
            silent.entry(server).or_default().push(name.as_str());
        }
        for warning in unit.warnings.iter().filter(|warning| !is_said(unit, warning)) {
            let first = warning.lines().next().unwrap_or_default();
            notes.push(("note", format!("{name}: {first}")));
        }
    }
    notes.extend(unplaced(plan).map(|text| ("warning", text)));
    for (server, units) in silent {
        let then = if units.len() == 1 { "it is applied" } else { "they are applied" };
        let units = units.join(", ");
        notes.push((
            "note",
            format!("{server} cannot be reached: what it makes of {units} is known when {then}"),
        ));
    }
    notes
}

/// What would be registered and not started: a sentence a unit, with Nomad's reasons.
fn unplaced(plan: &RunPlan) -> impl Iterator<Item = String> {
    let units = plan.units.iter().filter(|(_, unit)| !unit.unplaced.is_empty());
    units.map(|(name, unit)| {
        format!("{name}: as things are, Nomad has no place for it: {}", unit.unplaced.join("; "))
    })
}

/// Why what was planned cannot be carried out now: a server that work is for does not answer. Tofu would find out half-way.
pub fn unreached(plan: &RunPlan) -> Option<Diagnostic> {
    let mut units = plan.units.iter().filter(|(_, unit)| unit.is_work());
    units.find_map(|(name, unit)| {
        let server = unit.unreached.as_ref()?;
        let problem =
            Diagnostic::error(codes::NOT_REACHED, format!("{server} cannot be reached, and {name} needs it"));
        Some(problem.why("nothing was recorded and nothing was begun").fix(
            "start it, or say where it is: eos.toml, or the environment; eos plan shows the plan without it",
        ))
    })
}

/// What is said of a plan without changes: also which names go of which nothing is left.
fn nothing_to_do(plan: &RunPlan, width: usize) -> String {
    let is_gone = |unit: &UnitPlan| unit.goal == Goal::Gone && unit.is_work();
    let (gone, rest): (Vec<_>, Vec<_>) = plan.units.iter().partition(|(_, unit)| is_gone(unit));
    let mut out = String::new();
    if !gone.is_empty() {
        let names: Vec<&str> = gone.iter().map(|(name, _)| name.as_str()).collect();
        let verb = if names.len() == 1 { "it goes" } else { "they go" };
        let said = format!("Nothing is there any more of {}: {verb} from eos's records.", names.join(", "));
        out.push_str(&below("", "", &said, width, 2));
    }
    if gone.is_empty() || !rest.is_empty() {
        let units = counted(rest.len(), "unit");
        out.push_str(&format!("{} is as the pillar says: nothing to do for {units}.\n", plan.env));
    }
    out
}

/// So many creations that differ in nothing but their names are one row, with the names in its note.
const ALIKE: usize = 4;

/// The lines of a screen: a person need not read twenty times that something of one kind is made on one host.
fn folded(lines: Vec<Line>) -> Vec<Line> {
    let shape = |line: &Line| {
        let plain = line.kind == ChangeKind::Create && line.note.is_empty() && line.radius == 0;
        plain.then(|| (line.resource.clone(), line.host.clone()))
    };
    let mut names: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for line in &lines {
        if let Some(shape) = shape(line) {
            names.entry(shape).or_default().push(line.unit.clone());
        }
    }
    names.retain(|_, names| names.len() >= ALIKE);
    let fold = |line: Line| match shape(&line) {
        Some(shape) if let Some(alike) = names.get(&shape) => (alike[0] == line.unit).then(|| Line {
            unit: counted(alike.len(), "unit"),
            note: alike.join(", "),
            ..line
        }),
        _ => Some(line),
    };
    lines.into_iter().filter_map(fold).collect()
}

/// A row a line. Hosts have a column when there are any; what a note has no room for goes on below.
fn table(lines: Vec<Line>, width: usize) -> Table {
    let hosts = lines.iter().any(|line| line.host != "-");
    let mut head = vec!["ACTION", "UNIT", "RESOURCE"];
    head.extend(hosts.then_some("HOST").into_iter().chain(["NEEDED BY", "NOTE"]));
    let row = |line: Line| {
        let needed = if line.radius == 0 { "-".to_owned() } else { counted(line.radius, "unit") };
        let mut cells = vec![verb(&line).to_owned(), line.unit, line.resource];
        cells.extend(hosts.then_some(line.host).into_iter().chain([needed]));
        (line.kind, cells, line.note)
    };
    let rows: Vec<_> = lines.into_iter().map(row).collect();
    let before = head.len() - 1;
    let column = |index: usize| {
        let cells = rows.iter().map(|(_, cells, _)| cells[index].chars().count());
        cells.chain([head[index].len()]).max().unwrap_or(0) + 2
    };
    let room = width.saturating_sub((0..before).map(column).sum()).max(NARROW);
    let mut table = Table::new(&head);
    for (kind, mut cells, note) in rows {
        let mut parts = wrapped(&note, room, room).into_iter();
        cells.push(parts.next().unwrap_or_default());
        table.painted(cells, paint(kind));
        for part in parts {
            table.row([vec![String::new(); before], vec![part]].concat());
        }
    }
    table
}

/// A note has that much room at least: other columns give way.
const NARROW: usize = 24;

/// Tofu warns of what is left behind, and of a server that does not answer; the plan has a line for each of it already.
fn is_said(unit: &UnitPlan, warning: &str) -> bool {
    if unit.unreached.as_ref().is_some_and(|server| warning.contains(server)) {
        return true;
    }
    let mut left = unit.changes().iter().filter(|change| change.kind == ChangeKind::Forget);
    left.any(|change| warning.contains(&change.address))
}

/// For a pull request.
pub fn markdown(plan: &RunPlan, previews: &Previews, cost: Option<&Cost>) -> String {
    let env = &plan.env;
    if plan.is_empty() {
        return format!("### {env}: nothing to do\n");
    }
    let lines = lines(plan, previews);
    let mut out = format!(
        "### {env}: {}\n\n| action | unit | resource | host | needed by | note |\n|---|---|---|---|---|---|\n",
        summary(plan, &lines)
    );
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    for line in lines {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            verb(&line),
            cell(&line.unit),
            cell(&line.resource),
            cell(&line.host),
            line.radius,
            cell(&line.note)
        ));
    }
    out.push_str(&format!("\n{}", data(plan, usize::MAX, Style(false))));
    for (mark, text) in notes(plan) {
        out.push_str(&format!("\n**{mark}** {text}\n"));
    }
    // A paragraph of its own.
    out.push_str(&cost.map_or_else(String::new, |cost| format!("\n{}", cost.text(usize::MAX))));
    out
}

/// For machines: everything but the saved plans.
pub fn document(plan: &RunPlan, previews: &Previews, cost: Option<&Cost>) -> Json {
    let mut document = json!(plan);
    if let Some(units) = document["units"].as_object_mut() {
        for (_, unit) in units {
            if let Some(verdict) = unit["verdict"].as_object_mut() {
                verdict.remove("tfplan");
                for changes in ["changes", "foreseen"] {
                    let changes = verdict.get_mut(changes).and_then(Json::as_array_mut);
                    changes.into_iter().flatten().filter_map(Json::as_object_mut).for_each(|change| {
                        change.remove("billed");
                    });
                }
            }
        }
    }
    if let Some(cost) = cost {
        document["cost"] = cost.document();
    }
    document["previews"] = json!(previews);
    document["changes"] = json!(!plan.is_empty());
    document
}

/// `1 unit to destroy (1 keeps data), 3 to create (2 known later)`: each unit once, by the gravest thing that is done to it.
/// Operations are counted apart.
fn summary(plan: &RunPlan, lines: &[Line]) -> String {
    use ChangeKind::{Adopt, Create, Destroy, Forget, Replace, Update};
    let mut units: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines.iter().filter(|line| !line.once) {
        units.entry(&line.unit).or_default().push(line);
    }
    let has = |lines: &[&Line], kind: ChangeKind| lines.iter().any(|line| line.kind == kind);
    // A unit that stays is not destroyed, whatever goes from it.
    let goes = |unit: &str| plan.units.get(unit).is_some_and(|unit| unit.goal == Goal::Gone);
    let gravest = |unit: &str, lines: &[&Line]| {
        let found =
            [Destroy, Replace, Update, Create, Forget, Adopt].into_iter().find(|kind| has(lines, *kind));
        match found {
            Some(Destroy | Forget) if !goes(unit) => Some(Update),
            found => found,
        }
    };
    let kinds = [
        (Destroy, "to destroy"),
        (Forget, "to leave behind with data"),
        (Replace, "to replace"),
        (Update, "to change"),
        (Create, "to create"),
        (Adopt, "to take over"),
    ];
    let mut parts = Vec::new();
    for (kind, words) in kinds {
        let of_kind =
            || units.iter().filter(|(unit, lines)| gravest(unit, lines) == Some(kind)).map(|(_, l)| l);
        let count = of_kind().count();
        if count == 0 {
            continue;
        }
        let also = |with: &dyn Fn(&[&Line]) -> bool, words: &str| {
            let count = of_kind().filter(|lines| with(lines)).count();
            (count > 0).then(|| counted(count, words))
        };
        let also: Vec<String> = [
            also(&|lines| kind == Destroy && has(lines, Forget), "keeps data|keep data"),
            also(
                &|lines| kind == Create && has(lines, Adopt),
                "takes over what is there|take over what is there",
            ),
            also(&|lines| lines.iter().any(|line| line.known_later), "known later|known later"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let also = if also.is_empty() { String::new() } else { format!(" ({})", also.join(", ")) };
        let count = if parts.is_empty() { counted(count, "unit") } else { count.to_string() };
        parts.push(format!("{count} {words}{also}"));
    }
    let once = lines.iter().filter(|line| line.once).count();
    parts.extend((once > 0).then(|| format!("{} to do once", counted(once, "operation"))));
    parts.join(", ")
}

fn has_lines(unit: &UnitPlan) -> bool {
    matches!(unit.verdict, Verdict::Changes { .. } | Verdict::Envelope { .. })
}

fn verb(line: &Line) -> &'static str {
    match line.kind {
        _ if line.once => "+ do once",
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
