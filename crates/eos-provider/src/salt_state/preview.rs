//! What test=True says, for people and for eos. Secrets are hidden in it already.

use eos_salt::{Outcome, Report, SaltError, StateResult};
use serde_json::{Value as Json, json};

use super::arguments::{Arguments, Via};

/// A file of ten thousand lines need not be read on a plan's screen.
const LONGEST_DIFF: usize = 40;

/// `2 states would change, 1 is as it should be`.
pub fn summary(report: &Report) -> String {
    let count = |outcome| report.of(outcome).count();
    let states = |count: usize| if count == 1 { "1 state".to_owned() } else { format!("{count} states") };
    let mut parts = Vec::new();
    for (outcome, words) in [
        (Outcome::Failed, "would fail"),
        (Outcome::WouldChange, "would change"),
        (Outcome::Changed, "changed"),
        (Outcome::Unchanged, "as it should be"),
    ] {
        let words = match outcome {
            // Only a run in earnest has states that changed or really failed.
            Outcome::Failed if count(Outcome::Changed) > 0 => "failed",
            _ => words,
        };
        match count(outcome) {
            0 => {}
            count => parts.push(format!("{} {words}", states(count))),
        }
    }
    if parts.is_empty() { "no states".to_owned() } else { parts.join(", ") }
}

/// A line for each state that would change or fail, with the difference where it can be shown.
pub fn text(arguments: &Arguments<'_>, report: &Report) -> String {
    let mut lines = Vec::new();
    for state in &report.states {
        let mark = match state.outcome {
            Outcome::WouldChange | Outcome::Changed => "~",
            Outcome::Failed => "!",
            Outcome::Unchanged => continue,
        };
        lines.push(format!("{mark} {state}: {}", state.headline()));
        lines.extend(diff(arguments, state));
    }
    if lines.is_empty() {
        return format!("nothing to change on {}: {}", arguments.target, summary(report));
    }
    lines.join("\n")
}

/// The difference between a file and what it shall be. Not where it could show a secret that nobody told us of: the value
/// before a rotation, or what a minion has from its own pillar.
fn diff(arguments: &Arguments<'_>, state: &StateResult) -> Vec<String> {
    if arguments.via != Via::Masterless || arguments.pillar.is_some_and(|pillar| pillar.contains("secret://"))
    {
        return Vec::new();
    }
    let Some(diff) = state.changes.get("diff").and_then(Json::as_str) else { return Vec::new() };
    let lines: Vec<&str> =
        diff.lines().skip_while(|line| line.starts_with("---") || line.starts_with("+++")).collect();
    let mut shown: Vec<String> = lines.iter().take(LONGEST_DIFF).map(|line| format!("    {line}")).collect();
    if lines.len() > LONGEST_DIFF {
        shown.push(format!("    … {} more lines", lines.len() - LONGEST_DIFF));
    }
    shown
}

pub fn details(arguments: &Arguments<'_>, report: &Report) -> Json {
    let states: Vec<Json> = report
        .states
        .iter()
        .map(|state| {
            json!({
                "id": state.id,
                "name": state.name,
                "function": state.function,
                "outcome": match state.outcome {
                    Outcome::Unchanged => "unchanged",
                    Outcome::Changed => "changed",
                    Outcome::WouldChange => "would_change",
                    Outcome::Failed => "failed",
                },
                "comment": state.comment,
            })
        })
        .collect();
    json!({"target": arguments.target, "known": true, "in_sync": !report.differs(), "states": states})
}

/// For a target that nobody could ask.
pub fn unknown(arguments: &Arguments<'_>, error: &SaltError) -> Json {
    json!({"target": arguments.target, "known": false, "reason": error.to_string()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Object;

    fn state(id: &str, outcome: Outcome, changes: Json) -> StateResult {
        let comment = "The file is set to be changed\nNote: more".to_owned();
        StateResult {
            id: id.to_owned(),
            name: format!("/{id}"),
            function: "file.managed".to_owned(),
            outcome,
            comment,
            changes,
        }
    }

    fn report() -> Report {
        let diff = json!({"diff": "--- \n+++ \n@@ -1 +1 @@\n-old\n+new\n"});
        let states = vec![
            state("a", Outcome::Unchanged, json!({})),
            state("b", Outcome::WouldChange, diff),
            state("c", Outcome::Failed, json!({})),
        ];
        Report { states }
    }

    fn object(via: &str) -> Object {
        Object::default()
            .with("name", "production/web/host")
            .with("target", "local")
            .with("via", via)
            .with("sls", "{}")
    }

    #[test]
    fn a_line_for_each_state_that_differs() {
        let object = object("masterless");
        let arguments = Arguments::of(&object).unwrap();
        assert_eq!(summary(&report()), "1 state would fail, 1 state would change, 1 state as it should be");
        assert_eq!(
            text(&arguments, &report()),
            "~ file.managed /b (b): The file is set to be changed\n    @@ -1 +1 @@\n    -old\n    +new\n! file.managed /c (c): The file is set to be changed"
        );
        assert_eq!(details(&arguments, &report())["states"][1]["outcome"], "would_change");
        let nothing = Report { states: vec![state("a", Outcome::Unchanged, json!({}))] };
        assert_eq!(text(&arguments, &nothing), "nothing to change on local: 1 state as it should be");
    }

    /// The line that goes away may hold the secret of before.
    #[test]
    fn no_difference_is_shown_that_could_hold_a_secret() {
        let secret = object("masterless").with("pillar", r#"{"p": "secret://production/web/p?v=2"}"#);
        for object in [object("minion"), secret] {
            let text = text(&Arguments::of(&object).unwrap(), &report());
            assert!(!text.contains("old") && text.contains("file.managed /b"), "{text}");
        }
    }
}
