//! What tofu itself says is wrong, as it says it.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiagnosticSeverity {
    Error,
    Warning,
}

/// One error or warning of tofu, from its JSON stream or read from its text for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDiagnostic {
    pub severity: DiagnosticSeverity,
    pub summary: String,
    pub detail: String,
    /// The resource it is about.
    pub address: Option<String>,
    pub file: Option<String>,
    pub line: Option<u64>,
}

/// The same in tofu's JSON. The snippet is left out on purpose: it quotes the configuration.
#[derive(Deserialize)]
pub(crate) struct RawDiagnostic {
    severity: DiagnosticSeverity,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    address: Option<String>,
    #[serde(default)]
    range: Option<RawRange>,
}

#[derive(Deserialize)]
struct RawRange {
    filename: Option<String>,
    start: Option<RawStart>,
}

#[derive(Deserialize)]
struct RawStart {
    line: Option<u64>,
}

impl From<RawDiagnostic> for ToolDiagnostic {
    fn from(raw: RawDiagnostic) -> ToolDiagnostic {
        let (file, line) = match raw.range {
            Some(range) => (range.filename, range.start.and_then(|start| start.line)),
            None => (None, None),
        };
        let address = raw.address.filter(|address| !address.is_empty());
        ToolDiagnostic {
            severity: raw.severity,
            summary: raw.summary,
            detail: raw.detail,
            address,
            file,
            line,
        }
    }
}

impl ToolDiagnostic {
    pub fn is_error(&self) -> bool {
        self.severity == DiagnosticSeverity::Error
    }

    /// Said at the end of an apply whose state was not taken. Where it says that the state was left in a file, there may
    /// be none all the same.
    pub(crate) fn says_that_state_was_not_saved(&self) -> bool {
        let about_state = ["Failed to save state", "Failed to persist state"];
        self.is_error()
            && self.address.is_none()
            && about_state.iter().any(|words| self.summary.starts_with(words))
    }

    /// Reads the text that tofu prints for people (`-no-color`): some commands have no JSON, and no command has it
    /// before its arguments and environment are understood.
    pub(crate) fn all_from_text(text: &str) -> Vec<ToolDiagnostic> {
        let mut found: Vec<ToolDiagnostic> = Vec::new();
        let mut in_place = false;
        for line in text.lines() {
            let line = without_frame(line);
            let start = [("Error: ", DiagnosticSeverity::Error), ("Warning: ", DiagnosticSeverity::Warning)]
                .into_iter()
                .find_map(|(prefix, severity)| Some((severity, line.strip_prefix(prefix)?)));
            if let Some((severity, summary)) = start {
                let (summary, detail) = (summary.trim().to_owned(), String::new());
                found.push(ToolDiagnostic {
                    severity,
                    summary,
                    detail,
                    address: None,
                    file: None,
                    line: None,
                });
                in_place = false;
                continue;
            }
            let Some(diagnostic) = found.last_mut() else { continue };
            // Where it happened stands before what happened, and ends with an empty line.
            if diagnostic.detail.is_empty() {
                if let Some(address) = line.strip_prefix("  with ") {
                    diagnostic.address = Some(address.trim_end_matches([',', ':']).to_owned());
                    in_place = true;
                } else if let Some(place) = line.strip_prefix("  on ") {
                    (diagnostic.file, diagnostic.line) = file_and_line(place);
                    in_place = true;
                }
                if in_place || line.is_empty() {
                    in_place = in_place && !line.is_empty();
                    continue;
                }
            }
            diagnostic.detail.push_str(line);
            diagnostic.detail.push('\n');
        }
        for diagnostic in &mut found {
            diagnostic.detail.truncate(diagnostic.detail.trim_end().len());
        }
        found
    }
}

/// `main.tf.json line 3, in resource.terraform_data.a:`
fn file_and_line(place: &str) -> (Option<String>, Option<u64>) {
    match place.split_once(" line ") {
        Some((file, rest)) => {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
            (Some(file.to_owned()), digits.and_then(|digits| digits.parse().ok()))
        }
        None => (Some(place.trim_end_matches(':').to_owned()), None),
    }
}

/// Takes away the frame that is drawn around a diagnostic.
fn without_frame(line: &str) -> &str {
    let line = line.trim_end();
    match line.strip_prefix('│') {
        Some(rest) => rest.strip_prefix(' ').unwrap_or(rest),
        None => line.trim_start_matches(['╷', '╵']),
    }
}

impl fmt::Display for ToolDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(address) = &self.address {
            write!(f, "{address}: ")?;
        }
        f.write_str(&self.summary)?;
        if !self.detail.is_empty() && self.detail != self.summary {
            write!(f, ": {}", self.detail.trim())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_people_is_read_with_and_without_a_frame() {
        let plain = "\nWarning: Old\n\nfirst\n\nError: Bad thing\n\n  with terraform_data.a,\n  on main.tf.json line 3, in \
                     resource.terraform_data.a:\n   3: \"a\": {\n\nIt is bad.\n  ID: 7\n\nReally.\n\n";
        let framed: String = plain
            .lines()
            .map(|line| if line.is_empty() { "│\n".into() } else { format!("│ {line}\n") })
            .collect();
        for text in [plain.to_owned(), format!("╷\n{framed}╵\n")] {
            let found = ToolDiagnostic::all_from_text(&text);
            assert_eq!(found.len(), 2, "{found:?}");
            assert_eq!((found[0].summary.as_str(), found[0].detail.as_str()), ("Old", "first"));
            let bad = &found[1];
            assert!(bad.is_error());
            assert_eq!(bad.summary, "Bad thing");
            assert_eq!(bad.detail, "It is bad.\n  ID: 7\n\nReally.");
            assert_eq!(bad.address.as_deref(), Some("terraform_data.a"));
            assert_eq!((bad.file.as_deref(), bad.line), (Some("main.tf.json"), Some(3)));
        }
    }
}
