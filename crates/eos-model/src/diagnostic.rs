//! A mistake or a warning: code, what happened, where, why, and what to type next.
//!
//! Diagnostics are collected, not thrown one at a time: a user gets every mistake of a run at once.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use crate::codes::Code;

/// How much a diagnostic weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// A place in a file, with the line's text so that it can be shown without reading the file again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Relative to the estate's root.
    pub file: Utf8PathBuf,
    /// 1-based; 0 means the file as a whole.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl Place {
    /// The file as a whole.
    pub fn file(file: impl AsRef<Utf8Path>) -> Place {
        Place { file: file.as_ref().to_owned(), line: 0, column: 0, text: String::new() }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    /// What happened, in one sentence without a full stop.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Why it is a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to type or change next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Diagnostic {
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            place: None,
            why: None,
            fix: None,
        }
    }

    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    pub fn at(mut self, place: impl Into<Option<Place>>) -> Diagnostic {
        self.place = place.into().or(self.place);
        self
    }

    pub fn why(mut self, why: impl Into<String>) -> Diagnostic {
        self.why = Some(why.into());
        self
    }

    pub fn fix(mut self, fix: impl Into<String>) -> Diagnostic {
        self.fix = Some(fix.into());
        self
    }
}

/// The findings of a run, errors and warnings together, in the order they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    pub fn extend(&mut self, other: Diagnostics) {
        self.0.extend(other.0);
    }

    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Err` with everything found when at least one finding is an error, else the warnings.
    pub fn into_result(self) -> Result<Diagnostics, Diagnostics> {
        if self.has_errors() { Err(self) } else { Ok(self) }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, d) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {}", d.code, d.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
