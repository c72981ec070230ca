//! Nomad's own plan in lines a person reads. Values that look like secrets are blanked out: a job edited by hand may
//! have them in clear.

use eos_nomad::{DesiredUpdates, DiffKind, describe_placement};
use serde_json::{Value as Json, json};

use super::private::Private;
use super::survey::Survey;
use super::words::in_words;

const LONGEST_VALUE: usize = 80;
const BLANK: &str = "•••";

pub struct Preview {
    pub text: String,
    pub details: Json,
    /// Nothing would change in Nomad.
    pub is_empty: bool,
}

/// `taken_over` is a job that was another's, or nobody's.
pub fn preview(id: &str, survey: &Survey, private: Private, taken_over: bool) -> Preview {
    let plan = &survey.plan;
    let action = match (&survey.job, plan.diff.kind) {
        (None, _) => "create",
        (Some(job), _) if job.stop => "start",
        (_, DiffKind::None) => "none",
        _ => "update",
    };
    let mut lines = vec![match action {
        "create" => format!("job {id} is new"),
        "start" => format!("job {id} is stopped and starts again"),
        "none" => unchanged(&survey.differences(private), survey.needs_another_attempt()),
        _ => match in_words(&plan.diff, taken_over) {
            text if text.is_empty() => format!("job {id} changes"),
            text => text,
        },
    }];
    if !matches!(action, "create" | "none") {
        lines.extend(survey.differences(private).into_iter().map(|reason| format!("  {reason}")));
        lines.extend(plan.diff.lines(&show).into_iter().map(|line| format!("  {line}")));
    }
    let mut groups = serde_json::Map::new();
    for (group, updates) in &plan.annotations.desired {
        if let Some(text) = describe(updates) {
            lines.push(format!("  group {group}: {text}"));
            groups.insert(group.clone(), text.into());
        }
    }
    let placement = describe_placement(&plan.placement_failures);
    lines.extend(placement.iter().map(|line| format!("  {line}")));
    lines.extend(
        plan.warnings.lines().filter(|line| !line.is_empty()).map(|line| format!("  Nomad warns: {line}")),
    );
    Preview {
        is_empty: action == "none" && placement.is_empty() && survey.differences(private).is_empty(),
        text: lines.join("\n"),
        details: json!({"job": id, "action": action, "groups": groups, "placement": placement}),
    }
}

/// Why a job is gone about although Nomad has it as it is asked for.
fn unchanged(reasons: &[String], starts_again: bool) -> String {
    let reasons = reasons.join("; ");
    match (reasons.is_empty(), starts_again) {
        (true, _) => "Nomad has it like this already: only eos's record of it changes".to_owned(),
        (false, true) => format!("submitted again as it is, to be started again: {reasons}"),
        (false, false) => format!("the job itself stays as it is: {reasons}"),
    }
}

fn describe(updates: &DesiredUpdates) -> Option<String> {
    let counts = [
        (updates.place, "to start"),
        (updates.destructive_update, "to replace"),
        (updates.in_place_update, "to update in place"),
        (updates.canary, "canaries"),
        (updates.migrate, "to move"),
        (updates.stop, "to stop"),
        (updates.preemptions, "of other jobs to be pushed out"),
    ];
    let some: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!some.is_empty()).then(|| some.join(", "))
}

/// Whether a field's name says that its value is a secret.
pub fn is_secret(name: &str) -> bool {
    const TELLING: &[&str] = &[
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "credential",
        "private",
        "apikey",
        "api_key",
    ];
    let name = name.to_lowercase();
    TELLING.iter().any(|word| name.contains(word))
}

/// A value for the eye: one line, not too long, and nothing of what its name says is a secret.
fn show(name: &str, value: &str) -> String {
    if value.starts_with("secret://") {
        return value.to_owned();
    }
    if !value.is_empty() && is_secret(name) {
        return BLANK.to_owned();
    }
    if value.contains('\n') {
        return format!("({} lines)", value.lines().count());
    }
    match value.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{:?}…", &value[..end]),
        None => format!("{value:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_does_not_differ_says_why_it_is_in_the_plan() {
        let failed = ["its last deployment failed: no progress".to_owned()];
        let again = unchanged(&failed, true);
        assert!(again.contains("submitted again") && again.contains("no progress"), "{again}");
        let secret = ["the variable with its secrets was changed".to_owned()];
        assert!(!unchanged(&secret, false).contains("submitted"), "it is not registered anew");
        assert!(unchanged(&[], false).contains("record"));
    }

    #[test]
    fn values_are_cut_and_blanked() {
        assert_eq!(show("Env[DB_PASSWORD]", "hunter2"), BLANK);
        assert_eq!(show("Meta[eos.secret.k]", "secret://p/n/k?v=2"), "secret://p/n/k?v=2");
        assert_eq!(show("EmbeddedTmpl", "a\nb"), "(2 lines)");
        assert_eq!(show("Count", "3"), "\"3\"");
        assert!(show("x", &"é".repeat(200)).chars().count() < 90);
    }
}
