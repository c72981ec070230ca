//! What is covered, derived from the table of actions: nothing is listed by hand.

use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub service: &'static str,
    pub action: &'static str,
    pub parameters: Vec<&'static str>,
    /// Taken, and without effect so far.
    pub without_effect: Vec<&'static str>,
    pub filters: Vec<&'static str>,
}

pub fn rows() -> Vec<Row> {
    let ec2 = hive_ec2::ACTIONS.iter().map(|entry| {
        let mut parameters = (entry.parameters)();
        parameters.extend(entry.accepts.names());
        parameters.sort_unstable();
        Row {
            service: "ec2",
            action: entry.name,
            parameters,
            without_effect: entry.without_effect.to_vec(),
            filters: entry.accepts.filters.map(|names| names()).unwrap_or_default(),
        }
    });
    let sts = crate::sts::ACTIONS.iter().map(|(action, parameters)| Row {
        service: "sts",
        action,
        parameters: parameters.to_vec(),
        without_effect: Vec::new(),
        filters: Vec::new(),
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

/// The page `docs/hive-coverage.md`.
pub fn markdown() -> String {
    let rows = rows();
    let mut text = format!(
        "# What Hive answers\n\nGenerated from the table of actions; do not edit. {} actions. Filters `tag:KEY`, \
         `tag-key` and `tag-value` work wherever `Filter` does. Some actions are refused by name, with the reason \
         (at the end); any other that is not here is `InvalidAction`, a \
         filter that is not here `InvalidParameterValue`, a parameter that is not here is counted (strict mode: \
         `UnknownParameter`).\n",
        rows.len()
    );
    for row in rows {
        text.push_str(&format!("\n## {} {}\n", row.service, row.action));
        let code =
            |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if !row.parameters.is_empty() {
            text.push_str(&format!("\nParameters: {}\n", code(&row.parameters)));
        }
        if !row.without_effect.is_empty() {
            text.push_str(&format!("\nAccepted without effect: {}\n", code(&row.without_effect)));
        }
        if !row.filters.is_empty() {
            text.push_str(&format!("\nFilters: {}\n", code(&row.filters)));
        }
    }
    text.push_str("\n## Refused by name\n\nAnswered with `UnsupportedOperation` and the reason.\n\n");
    for Refused { action, why } in refused() {
        text.push_str(&format!("- `{action}`: {why}\n"));
    }
    text
}
