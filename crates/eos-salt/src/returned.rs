//! Reads what a state function returned: results by tag, a list of errors, or a sentence.

use serde_json::Value as Json;

use crate::error::SaltError;
use crate::redact::Redactor;
use crate::report::{Outcome, Report, StateResult};

/// Between the parts of a tag: `file_|-motd_|-/etc/motd_|-managed`.
const SEPARATOR: &str = "_|-";

/// The report in a return value; secrets are hidden before anything else looks at it.
pub(crate) fn report(
    target: &str,
    returned: Json,
    test: bool,
    redactor: &Redactor,
) -> Result<Report, SaltError> {
    match redactor.json(returned) {
        Json::Object(entries) => {
            let mut states = Vec::with_capacity(entries.len());
            for (tag, value) in entries {
                let order = value.get("__run_num__").and_then(Json::as_u64).unwrap_or(u64::MAX);
                let state = state(&tag, &value, test).ok_or_else(|| SaltError::Unexpected {
                    target: target.to_owned(),
                    answer: shortened(&format!("{tag}: {value}")),
                })?;
                states.push((order, state));
            }
            states.sort_by_key(|(order, _)| *order);
            Ok(Report { states: states.into_iter().map(|(_, state)| state).collect() })
        }
        Json::Array(errors) => Err(refused(target, texts(errors))),
        Json::String(sentence) => {
            Err(SaltError::Call { target: target.to_owned(), message: cause(&sentence) })
        }
        other => {
            Err(SaltError::Unexpected { target: target.to_owned(), answer: shortened(&other.to_string()) })
        }
    }
}

fn state(tag: &str, value: &Json, test: bool) -> Option<StateResult> {
    let (module, rest) = tag.split_once(SEPARATOR)?;
    let (rest, function) = rest.rsplit_once(SEPARATOR)?;
    let (id, name) = rest.split_once(SEPARATOR).unwrap_or((rest, rest));
    let text = |key: &str| value.get(key).and_then(Json::as_str);
    let changes = value.get("changes").cloned().unwrap_or_default();
    Some(StateResult {
        id: text("__id__").unwrap_or(id).to_owned(),
        name: text("name").unwrap_or(name).to_owned(),
        function: format!("{module}.{function}"),
        outcome: Outcome::of(value.get("result")?, &changes, test)?,
        comment: match value.get("comment") {
            Some(Json::String(comment)) => comment.clone(),
            Some(Json::Array(lines)) => texts(lines.clone()).join("\n"),
            _ => String::new(),
        },
        changes,
    })
}

fn texts(items: Vec<Json>) -> Vec<String> {
    items
        .into_iter()
        .map(|item| match item {
            Json::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        })
        .collect()
}

/// A list instead of results: the states were not run at all.
fn refused(target: &str, mut errors: Vec<String>) -> SaltError {
    let target = target.to_owned();
    if errors.first().is_some_and(|first| first.starts_with("Pillar failed to render")) {
        errors.remove(0);
        return SaltError::Pillar { target, errors };
    }
    if errors.iter().any(|error| error.starts_with("The function ") && error.contains(" is running as PID "))
    {
        return SaltError::Busy { target, running: errors.join("; ") };
    }
    SaltError::Compile { target, errors }
}

/// Of a traceback the last line, which says what went wrong; anything else as it is.
pub(crate) fn cause(text: &str) -> String {
    let text = text.trim();
    if text.contains("Traceback (most recent call last)") {
        return text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or(text).to_owned();
    }
    shortened(text)
}

/// Long enough to understand, short enough for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 2000;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Json) -> Result<Report, SaltError> {
        report("m1", value, false, &Redactor::new(["hunter2"]))
    }

    #[test]
    fn results_come_in_the_order_they_ran_with_secrets_hidden() {
        let report = read(json!({
            "cmd_|-b_|-echo hunter2_|-run": {"__id__": "b", "name": "echo hunter2", "result": true, "comment": "ran hunter2", "changes": {"stdout": "hunter2"}, "__run_num__": 1},
            "file_|-a_|-/x_|-y_|-managed": {"result": false, "comment": "no", "changes": {}, "__run_num__": 0},
        }))
        .unwrap();
        let [first, second] = &report.states[..] else { panic!("{report:?}") };
        assert_eq!(
            (first.id.as_str(), first.name.as_str(), first.function.as_str()),
            ("a", "/x_|-y", "file.managed")
        );
        assert_eq!(first.outcome, Outcome::Failed);
        assert_eq!(second.to_string(), "cmd.run echo ••• (b)");
        assert!(!format!("{second:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_no_result_is_an_error_of_its_own() {
        assert!(matches!(read(json!(["ID x in SLS y is not a dictionary"])), Err(SaltError::Compile { .. })));
        assert!(matches!(
            read(json!(["Pillar failed to render with the following messages:", "no such file"])),
            Err(SaltError::Pillar { errors, .. }) if errors == ["no such file"]
        ));
        assert!(matches!(
            read(json!(["The function \"state.high\" is running as PID 9 and was started at 2026"])),
            Err(SaltError::Busy { .. })
        ));
        assert!(matches!(
            read(json!("The minion function caused an exception: Traceback (most recent call last):\n  x\nKeyError: '__sls__'\n")),
            Err(SaltError::Call { message, .. }) if message == "KeyError: '__sls__'"
        ));
        assert!(matches!(
            read(json!({"result": false, "comment": "queued"})),
            Err(SaltError::Unexpected { .. })
        ));
        assert!(matches!(read(json!(false)), Err(SaltError::Unexpected { .. })));
        assert_eq!(read(json!({})).unwrap().states.len(), 0);
    }
}
