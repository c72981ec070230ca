//! What is covered, derived from the table of actions: nothing is listed by hand.

use serde::Serialize;

use crate::control::UnknownParameter;

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub service: &'static str,
    pub action: &'static str,
    pub parameters: Vec<&'static str>,
    /// Taken, and without effect so far.
    pub without_effect: Vec<&'static str>,
    /// EC2 has them; a request that asks for one is refused. Nested ones (`Placement.HostId`) and values
    /// (`KeyFormat=ppk`) are among them.
    pub refused: Vec<String>,
    pub filters: Vec<&'static str>,
    /// EC2 has them; a request with one is answered with `InvalidParameterValue`.
    pub refused_filters: Vec<&'static str>,
    pub status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Done,
    /// Some parameters or filters are refused, or parameters without effect.
    Partial,
}

impl Row {
    fn new(
        service: &'static str,
        action: &'static str,
        parameters: Vec<&'static str>,
        without_effect: &[&'static str],
        refused: Vec<String>,
        filters: Vec<&'static str>,
    ) -> Row {
        let refused_filters: Vec<_> =
            hive_ec2::filters_of(action).filter(|name| !filters.contains(name)).collect();
        let done = refused_filters.is_empty() && refused.is_empty() && without_effect.is_empty();
        let status = if done { Status::Done } else { Status::Partial };
        let without_effect = without_effect.to_vec();
        Row { service, action, parameters, without_effect, refused, filters, refused_filters, status }
    }
}

pub fn rows() -> Vec<Row> {
    let ec2 = hive_ec2::ACTIONS.iter().map(|entry| {
        let mut parameters = (entry.parameters)();
        parameters.extend(entry.accepts.names());
        parameters.sort_unstable();
        let filters = entry.accepts.filters.map(|names| names()).unwrap_or_default();
        Row::new("ec2", entry.name, parameters, entry.without_effect, (entry.refused)(), filters)
    });
    let sts = crate::sts::ACTIONS.iter().map(|(action, parameters, without_effect)| {
        let missing = |name: &&str| !name.contains('.') && !parameters.contains(name);
        let refused = hive_ec2::parameters_of(action).filter(missing).map(str::to_owned).collect();
        Row::new("sts", action, parameters.to_vec(), without_effect, refused, Vec::new())
    });
    ec2.chain(sts).collect()
}

/// An action that is refused by name, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Refused {
    pub action: &'static str,
    pub why: &'static str,
}

pub fn refused() -> Vec<Refused> {
    hive_ec2::REFUSED.iter().map(|(action, why)| Refused { action, why }).collect()
}

/// What the running gateway was sent and did not know.
pub fn counted(unknown: &[UnknownParameter]) -> String {
    if unknown.is_empty() {
        return String::new();
    }
    let rows =
        unknown.iter().map(|one| format!("- `{}` {}: {} times\n", one.action, one.parameter, one.count));
    format!("\n## Sent to this gateway and not known\n\n{}", rows.collect::<String>())
}

fn code(names: &[impl std::fmt::Display]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What the page says of an action.
fn section(row: &Row) -> String {
    let mut text = format!("\n## {} {}\n", row.service, row.action);
    if row.status == Status::Partial {
        text.push_str("\nPartial.\n");
    }
    for (title, names) in [
        ("Parameters", code(&row.parameters)),
        ("Accepted without effect", code(&row.without_effect)),
        ("Refused", code(&row.refused)),
        ("Filters", code(&row.filters)),
        ("Filters refused", code(&row.refused_filters)),
    ] {
        if !names.is_empty() {
            text.push_str(&format!("\n{title}: {names}\n"));
        }
    }
    text
}

/// Every action that something can be said of, those that are refused by name among them.
pub fn actions() -> Vec<&'static str> {
    let mut names: Vec<_> = rows().iter().map(|row| row.action).collect();
    names.extend(refused().iter().map(|refused| refused.action));
    names.sort_unstable();
    names
}

/// One action; nothing if there is no such action.
pub fn of(action: &str) -> Option<String> {
    let row = rows().into_iter().find(|row| row.action == action);
    row.map(|row| section(&row).trim_start().to_owned()).or_else(|| {
        let refused = refused().into_iter().find(|refused| refused.action == action)?;
        Some(format!("{} is refused by name: {}.\n", refused.action, refused.why))
    })
}

/// How much is covered, on a few lines.
pub fn summary() -> String {
    let rows = rows();
    let mut text = "SERVICE  ACTIONS  DONE  PARTIAL\n".to_owned();
    for service in ["ec2", "sts"] {
        let count = |status: Option<Status>| {
            let of_it = rows.iter().filter(|row| row.service == service);
            of_it.filter(|row| status.is_none_or(|status| row.status == status)).count()
        };
        text.push_str(&format!(
            "{service:<7}  {:<7}  {:<4}  {}\n",
            count(None),
            count(Some(Status::Done)),
            count(Some(Status::Partial))
        ));
    }
    let without_effect: usize = rows.iter().map(|row| row.without_effect.len()).sum();
    text.push_str(&format!(
        "\nDone takes everything that AWS has; partial refuses something or takes it without effect ({without_effect} \
         parameters).\n{} more actions are refused by name, any other is InvalidAction.\n\n\
         eos hive coverage RunInstances   one action: its parameters and filters, and what is refused\n\
         eos hive coverage --full         all of them, as a page\n",
        refused().len()
    ));
    text
}

/// The page `docs/hive-coverage.md`.
pub fn markdown() -> String {
    let rows = rows();
    let mut text = format!(
        "# What Hive answers\n\nGenerated from the table of actions; do not edit. {} actions. Filters `tag:KEY`, \
         `tag-key` and `tag-value` work on everything that has tags. Some actions are refused by name, with the reason \
         (at the end); any other that is not here is `InvalidAction`, a \
         filter that is not here `InvalidParameterValue`. A parameter that AWS has and Hive has not is refused with \
         `UnsupportedOperation` when it asks for something, also where it is part of another (`Placement.HostId`), and so \
         is a value of a choice (`KeyFormat=ppk`), mostly with `InvalidParameterValue`; one that AWS does not have either is counted (strict mode: \
         `UnknownParameter`). An action is done when it takes everything, partial when it refuses something or \
         takes it without effect: {} are done.\n",
        rows.len(),
        rows.iter().filter(|row| row.status == Status::Done).count()
    );
    rows.iter().for_each(|row| text.push_str(&section(row)));
    text.push_str("\n## Refused by name\n\nAnswered with `UnsupportedOperation` and the reason, unless another code is said.\n\n");
    for Refused { action, why } in refused() {
        text.push_str(&format!("- `{action}`: {why}\n"));
    }
    text
}
