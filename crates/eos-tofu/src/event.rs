//! The messages of tofu's `-json` stream that matter to a run, typed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::diagnostic::RawDiagnostic;
use crate::{Action, ToolDiagnostic};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    PlannedChange {
        address: String,
        action: Action,
        reason: Option<String>,
    },
    /// Something changed outside of tofu.
    Drift {
        address: String,
        action: Action,
    },
    RefreshStart {
        address: String,
    },
    RefreshComplete {
        address: String,
    },
    ApplyStart {
        address: String,
        action: Action,
    },
    ApplyProgress {
        address: String,
        elapsed_seconds: u64,
    },
    ApplyComplete {
        address: String,
        action: Action,
        id: Option<String>,
        elapsed_seconds: u64,
    },
    ApplyErrored {
        address: String,
        action: Action,
        elapsed_seconds: u64,
    },
    ProvisionStart {
        address: String,
        provisioner: String,
    },
    ProvisionProgress {
        address: String,
        provisioner: String,
        output: String,
    },
    ProvisionComplete {
        address: String,
        provisioner: String,
    },
    ProvisionErrored {
        address: String,
        provisioner: String,
    },
    Diagnostic(ToolDiagnostic),
    ChangeSummary {
        operation: String,
        counts: ChangeCounts,
    },
    Outputs {
        outputs: BTreeMap<String, EventOutput>,
    },
    /// A message of a type that is not known here, or a plain line.
    Other {
        kind: String,
        message: String,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeCounts {
    pub add: u64,
    pub change: u64,
    pub remove: u64,
    pub import: u64,
    pub forget: u64,
}

/// An output as the stream tells it: a sensitive one comes without its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventOutput {
    pub sensitive: bool,
    pub value: Option<serde_json::Value>,
    /// What a plan does to it.
    pub action: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "@message", default)]
    message: String,
    #[serde(rename = "type", default)]
    kind: String,
    change: Option<Hook>,
    hook: Option<Hook>,
    changes: Option<Summary>,
    outputs: Option<BTreeMap<String, RawOutput>>,
    diagnostic: Option<RawDiagnostic>,
}

#[derive(Deserialize)]
struct Hook {
    resource: Resource,
    #[serde(default)]
    action: String,
    reason: Option<String>,
    id_value: Option<String>,
    #[serde(default)]
    elapsed_seconds: f64,
    #[serde(default)]
    provisioner: String,
    #[serde(default)]
    output: String,
}

#[derive(Deserialize)]
struct Resource {
    addr: String,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(default)]
    operation: String,
    #[serde(flatten)]
    counts: ChangeCounts,
}

#[derive(Deserialize)]
struct RawOutput {
    /// Not said is as good as sensitive.
    #[serde(default = "yes")]
    sensitive: bool,
    value: Option<serde_json::Value>,
    action: Option<String>,
}

fn yes() -> bool {
    true
}

impl Event {
    /// Reads one line. What is not understood becomes [`Event::Other`]: a newer tofu must not stop a run.
    /// When a message was written.
    pub(crate) fn time(line: &str) -> Option<String> {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["@timestamp"].as_str().map(str::to_owned)
    }

    pub(crate) fn parse(line: &str) -> Event {
        match serde_json::from_str::<Message>(line) {
            Ok(message) => Event::from_message(message),
            Err(_) => Event::Other { kind: String::new(), message: line.to_owned() },
        }
    }

    fn from_message(message: Message) -> Event {
        let kind = message.kind.as_str();
        if let Some(hook) = message.hook.or(message.change) {
            return Event::from_hook(kind, hook, message.message);
        }
        match (kind, message.diagnostic, message.changes, message.outputs) {
            ("diagnostic", Some(diagnostic), _, _) => Event::Diagnostic(diagnostic.into()),
            ("change_summary", _, Some(summary), _) => {
                Event::ChangeSummary { operation: summary.operation, counts: summary.counts }
            }
            ("outputs", _, _, Some(outputs)) => Event::Outputs {
                outputs: outputs.into_iter().map(|(name, raw)| (name, raw.into())).collect(),
            },
            _ => Event::Other { kind: message.kind, message: message.message },
        }
    }

    fn from_hook(kind: &str, hook: Hook, message: String) -> Event {
        let address = hook.resource.addr;
        let action = Action::from_word(&hook.action);
        let elapsed_seconds = hook.elapsed_seconds as u64;
        let provisioner = hook.provisioner;
        match kind {
            "planned_change" => Event::PlannedChange { address, action, reason: hook.reason },
            "resource_drift" => Event::Drift { address, action },
            "refresh_start" => Event::RefreshStart { address },
            "refresh_complete" => Event::RefreshComplete { address },
            "apply_start" => Event::ApplyStart { address, action },
            "apply_progress" => Event::ApplyProgress { address, elapsed_seconds },
            "apply_complete" => Event::ApplyComplete { address, action, id: hook.id_value, elapsed_seconds },
            "apply_errored" => Event::ApplyErrored { address, action, elapsed_seconds },
            "provision_start" => Event::ProvisionStart { address, provisioner },
            "provision_progress" => Event::ProvisionProgress { address, provisioner, output: hook.output },
            "provision_complete" => Event::ProvisionComplete { address, provisioner },
            "provision_errored" => Event::ProvisionErrored { address, provisioner },
            other => Event::Other { kind: other.to_owned(), message },
        }
    }
}

impl From<RawOutput> for EventOutput {
    fn from(raw: RawOutput) -> EventOutput {
        let value = if raw.sensitive { None } else { raw.value };
        EventOutput { sensitive: raw.sensitive, value, action: raw.action }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_broken_lines_are_kept_as_text() {
        for line in ["", "plain words", "{\"half\":", "[1]", "null"] {
            assert_eq!(Event::parse(line), Event::Other { kind: String::new(), message: line.into() });
        }
        let line = r#"{"@message":"Hm","type":"from_the_future","x":1,"hook":{"resource":{"addr":"a.b"}}}"#;
        assert_eq!(Event::parse(line), Event::Other { kind: "from_the_future".into(), message: "Hm".into() });
    }

    #[test]
    fn a_sensitive_output_has_no_value_even_if_the_stream_gave_one() {
        let line = r#"{"type":"outputs","outputs":{"a":{"sensitive":true,"value":"S3"},"b":{"value":"S3"},"c":{"sensitive":false,"value":1}}}"#;
        let event = Event::parse(line);
        assert!(!format!("{event:?}").contains("S3"));
        match event {
            Event::Outputs { outputs } => assert_eq!(outputs["c"].value, Some(1.into())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_of_a_summary_and_fractions_of_seconds_are_read() {
        let line =
            r#"{"type":"change_summary","changes":{"add":1,"change":2,"remove":3,"operation":"apply"}}"#;
        let counts = ChangeCounts { add: 1, change: 2, remove: 3, ..ChangeCounts::default() };
        assert_eq!(Event::parse(line), Event::ChangeSummary { operation: "apply".into(), counts });
        let line = r#"{"type":"apply_progress","hook":{"resource":{"addr":"a.b"},"action":"create","elapsed_seconds":10.5}}"#;
        assert_eq!(Event::parse(line), Event::ApplyProgress { address: "a.b".into(), elapsed_seconds: 10 });
    }
}
