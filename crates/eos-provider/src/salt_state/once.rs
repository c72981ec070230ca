//! An operation is done once, whatever ends the processes that do it: marks on its host say how far it got.
//!
//! One is made before its states run and one after them. Where only the first is found, nobody knows how far they got,
//! and neither doing it again nor leaving it can be right for certain: a person looks, and takes one mark away or makes the
//! other. States that ran and failed leave no mark: their failure was told, and they are tried again.

use eos_model::{Diagnostic, Diagnostics, codes};
use eos_salt::Outcome;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::arguments::{Arguments, Via};
use super::findings;
use super::reach;
use crate::call::Call;

/// Where marks are on a minion. On this machine they are in the estate, beside everything else that was done from it.
const ON_MINIONS: &str = "/var/lib/eos/operations";
const HERE: &str = ".eos/state/operations";

const BEGUN: &str = "eos-operation-begun";
const DONE: &str = "eos-operation-done";

/// How far an operation got before.
#[derive(Debug, PartialEq, Eq)]
pub enum Past {
    NotBegun,
    Begun,
    Done,
}

/// The marks of one operation.
pub struct Marks<'a> {
    call: &'a Call<'a>,
    /// Without secrets and states of its own.
    arguments: Arguments<'a>,
    begun: String,
    done: String,
}

impl<'a> Marks<'a> {
    /// None for states that are not an operation.
    pub fn of(call: &'a Call<'a>, arguments: &Arguments<'a>) -> Option<Marks<'a>> {
        let trigger = arguments.trigger?;
        let estate = call.settings.estate.as_deref();
        let folder = match arguments.via {
            Via::Minion => ON_MINIONS.to_owned(),
            // Without an estate no masterless state is run at all.
            Via::Masterless => estate.map(|estate| estate.join(HERE).into_string()).unwrap_or_default(),
        };
        let path = format!("{folder}/{}", file_name(arguments.name, trigger));
        let arguments = Arguments { pillar: None, ..*arguments };
        Some(Marks { call, arguments, begun: format!("{path}.begun"), done: format!("{path}.done") })
    }

    pub fn past(&self) -> Result<Past, Diagnostics> {
        let look = json!({
            BEGUN: {"file.exists": [{"name": self.begun}]},
            DONE: {"file.exists": [{"name": self.done}]},
        });
        let report = reach::run_to_the_end(self.call, &self.arguments, &sls(&look), true)
            .map_err(|failure| findings::of(&self.arguments, failure))?;
        let is_there = |id: &str| {
            report.states.iter().any(|state| state.id == id && state.outcome == Outcome::Unchanged)
        };
        Ok(if is_there(DONE) {
            Past::Done
        } else if is_there(BEGUN) {
            Past::Begun
        } else {
            Past::NotBegun
        })
    }

    pub fn begin(&self) -> Result<(), Diagnostics> {
        self.put(&json!({BEGUN: {"file.touch": [{"name": self.begun}, {"makedirs": true}]}}))
    }

    pub fn finish(&self) -> Result<(), Diagnostics> {
        self.put(&json!({DONE: {"file.touch": [{"name": self.done}, {"makedirs": true}]}}))
    }

    /// As if it had never been begun.
    pub fn forget(&self) -> Result<(), Diagnostics> {
        self.put(&json!({
            BEGUN: {"file.absent": [{"name": self.begun}]},
            DONE: {"file.absent": [{"name": self.done}]},
        }))
    }

    fn put(&self, states: &serde_json::Value) -> Result<(), Diagnostics> {
        let report = reach::run_to_the_end(self.call, &self.arguments, &sls(states), false)
            .map_err(|failure| findings::of(&self.arguments, failure))?;
        let found = findings::of_states(&self.arguments, &report);
        if found.is_empty() { Ok(()) } else { Err(found) }
    }

    /// It was begun and nobody knows how it ended.
    pub fn uncertain(&self) -> Diagnostic {
        let Arguments { name, target, .. } = self.arguments;
        Diagnostic::error(
            codes::STUCK,
            format!("{name} was begun on {target}, and nobody knows whether it was finished"),
        )
        .why("whoever did it was killed; done twice it may do harm")
        .fix(format!("look at {target}: if it was done, touch {} there, else rm {}", self.done, self.begun))
    }
}

/// What `sls` is in JSON, which is YAML.
fn sls(states: &serde_json::Value) -> String {
    format!("#!yaml\n{states}\n")
}

/// A name that a person can tell, and that no other operation has.
fn file_name(name: &str, trigger: &str) -> String {
    let digest = Sha256::digest(format!("{name}\n{trigger}"));
    let tell = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let short: String = trigger.chars().map(tell).take(80).collect();
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{short}-{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_names_of_their_own() {
        let name = file_name("production/operations/x", "20260921t141320-3f9a-resize-lvm");
        assert!(name.starts_with("20260921t141320-3f9a-resize-lvm-"), "{name}");
        assert_ne!(name, file_name("staging/operations/x", "20260921t141320-3f9a-resize-lvm"));
        assert_ne!(file_name("a", "../x"), file_name("a", ".._x"));
        assert!(!file_name("a", "../x").contains('/'));
    }
}
