//! What became of each state.

use std::fmt;

use serde_json::Value as Json;

/// The states of a run, in the order in which Salt ran them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub states: Vec<StateResult>,
}

/// One state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateResult {
    /// The id in the sls.
    pub id: String,
    /// What the state is about: a path, a package.
    pub name: String,
    /// `module.function`.
    pub function: String,
    pub outcome: Outcome,
    /// Salt's own words.
    pub comment: String,
    /// Salt's account of the changes; under test often empty although something would change.
    pub changes: Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Unchanged,
    Changed,
    /// Under test: the host differs from the state.
    WouldChange,
    Failed,
}

impl Outcome {
    /// From Salt's `result`. Under test only that counts: many states would change and give no `changes`.
    pub(crate) fn of(result: &Json, changes: &Json, test: bool) -> Option<Outcome> {
        let changed = match changes {
            Json::Object(entries) => !entries.is_empty(),
            Json::Array(items) => !items.is_empty(),
            Json::Null => false,
            _ => true,
        };
        match result {
            Json::Null => Some(Outcome::WouldChange),
            Json::Bool(false) => Some(Outcome::Failed),
            Json::Bool(true) if changed && !test => Some(Outcome::Changed),
            Json::Bool(true) => Some(Outcome::Unchanged),
            _ => None,
        }
    }
}

impl Report {
    pub fn of(&self, outcome: Outcome) -> impl Iterator<Item = &StateResult> {
        self.states.iter().filter(move |state| state.outcome == outcome)
    }

    /// Whether test=True says that the host differs. A state that fails under test is not as it should be either.
    pub fn differs(&self) -> bool {
        self.states.iter().any(|state| matches!(state.outcome, Outcome::WouldChange | Outcome::Failed))
    }

    /// The states that failed by themselves; those that only waited for a failed one come when there is no other.
    pub fn failures(&self) -> Vec<&StateResult> {
        let (consequences, causes): (Vec<_>, Vec<_>) = self
            .of(Outcome::Failed)
            .partition(|state| state.comment.starts_with("One or more requisite failed"));
        if causes.is_empty() { consequences } else { causes }
    }
}

impl StateResult {
    /// The comment, or what a command wrote: of that the comment only says that it ran, with all of its script.
    pub fn reason(&self) -> String {
        let comment = self.comment.trim();
        let only_ran = comment == format!("Command \"{}\" run", self.name);
        let code = self.changes.get("retcode").and_then(Json::as_i64).filter(|code| *code != 0);
        let mut lines = if only_ran && code.is_some() { Vec::new() } else { vec![comment.to_owned()] };
        for stream in ["stderr", "stdout"] {
            let text = self.changes.get(stream).and_then(Json::as_str).map_or("", str::trim).to_owned();
            if !text.is_empty() && !lines.contains(&text) {
                lines.push(text);
            }
        }
        lines.extend(code.map(|code| format!("it ended with {code}")));
        lines.join("\n")
    }

    /// The first line of what Salt says, and the next one where the first only announces it.
    pub fn headline(&self) -> String {
        // A script is not what is said of it.
        let comment = match self.name.trim().contains('\n') {
            true => self.comment.replace(&self.name, "…"),
            false => self.comment.clone(),
        };
        let mut lines = comment.trim().lines().map(str::trim);
        let first = lines.next().unwrap_or_default();
        match lines.next() {
            Some(next) if first.ends_with(':') => format!("{first} {next}"),
            _ => first.to_owned(),
        }
    }
}

impl fmt::Display for StateResult {
    /// `file.managed /etc/motd (motd)`; a script of several lines goes by its id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.trim().contains('\n') {
            return write!(f, "{} {}", self.function, self.id);
        }
        write!(f, "{} {}", self.function, self.name)?;
        if self.name == self.id { Ok(()) } else { write!(f, " ({})", self.id) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state(id: &str, outcome: Outcome, comment: &str, changes: Json) -> StateResult {
        let (id, comment) = (id.to_owned(), comment.to_owned());
        StateResult { name: id.clone(), id, function: "cmd.run".to_owned(), outcome, comment, changes }
    }

    #[test]
    fn under_test_only_the_result_counts() {
        let (changed, nothing) = (json!({"newfile": "/x"}), json!({}));
        for (result, changes, test, expected) in [
            (Json::Null, &nothing, true, Outcome::WouldChange),
            (Json::Null, &changed, true, Outcome::WouldChange),
            (json!(true), &changed, true, Outcome::Unchanged),
            (json!(true), &changed, false, Outcome::Changed),
            (json!(true), &nothing, false, Outcome::Unchanged),
            (json!(false), &changed, true, Outcome::Failed),
        ] {
            assert_eq!(Outcome::of(&result, changes, test), Some(expected), "{result} {changes} {test}");
        }
        assert_eq!(Outcome::of(&json!("yes"), &nothing, false), None);
    }

    #[test]
    fn a_failure_is_told_before_what_waited_for_it() {
        let failed = state(
            "a",
            Outcome::Failed,
            "Command \"x\" run",
            json!({"stderr": "no such disk\n", "retcode": 3}),
        );
        let waited = state("b", Outcome::Failed, "One or more requisite failed: a", json!({}));
        let report = Report { states: vec![waited.clone(), failed.clone()] };
        assert_eq!(report.failures(), [&failed]);
        assert_eq!(failed.reason(), "Command \"x\" run\nno such disk\nit ended with 3");
        let script = "# Only ever grows.\nset -eu\n";
        let failed =
            StateResult { name: script.to_owned(), comment: format!("Command \"{script}\" run"), ..failed };
        assert_eq!(failed.reason(), "no such disk\nit ended with 3");
        assert_eq!(failed.to_string(), "cmd.run a");
        assert_eq!(failed.headline(), "Command \"…\" run");
        assert_eq!(Report { states: vec![waited.clone()] }.failures(), [&waited]);
        assert!(report.differs());
    }
}
