//! What a command gives back: a text for people, a document for machines, and what was noticed.

use eos_model::{Diagnostics, Severity};
use serde_json::{Value as Json, json};

#[derive(Debug, Default)]
pub struct Outcome {
    pub text: String,
    pub json: Json,
    pub diagnostics: Diagnostics,
    pub exit: u8,
}

impl Outcome {
    pub fn new(text: impl Into<String>, json: Json) -> Outcome {
        Outcome { text: text.into(), json, ..Outcome::default() }
    }

    pub fn refused(diagnostics: Diagnostics) -> Outcome {
        Outcome { diagnostics, ..Outcome::default() }
    }

    pub fn with_warnings(mut self, warnings: Diagnostics) -> Outcome {
        self.diagnostics.extend(warnings);
        self
    }

    pub fn exits(mut self, code: u8) -> Outcome {
        self.exit = code;
        self
    }

    /// What `--json` prints: `{"ok", "result", "diagnostics"}`.
    pub fn document(&self) -> Json {
        let ok = !self.diagnostics.0.iter().any(|d| d.severity == Severity::Error);
        json!({"ok": ok, "result": self.json, "diagnostics": self.diagnostics})
    }
}
