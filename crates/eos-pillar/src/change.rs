//! A change of an estate: the files it writes and removes, and what its commit says.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;

/// Files by path in the estate; `None` removes one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub files: BTreeMap<Utf8PathBuf, Option<Vec<u8>>>,
}

impl Change {
    pub fn write(&mut self, path: impl Into<Utf8PathBuf>, content: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), Some(content.into()));
    }

    pub fn remove(&mut self, path: impl Into<Utf8PathBuf>) {
        self.files.insert(path.into(), None);
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// What a commit remembers of the command that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailers {
    /// One line: what changed.
    pub subject: String,
    /// The command as typed, secrets elided.
    pub command: String,
    /// Who ran it.
    pub user: String,
    /// Who is the author in git, as `name` and `email`.
    pub author: (String, String),
    /// Seconds since 1970, UTC.
    pub time: i64,
    /// `--because`.
    pub reason: Option<String>,
}

impl Trailers {
    pub fn message(&self) -> String {
        let mut text = format!(
            "{}\n\nEos-Command: {}\nEos-User: {}\n",
            line(&self.subject),
            line(&self.command),
            line(&self.user)
        );
        if let Some(reason) = &self.reason {
            text.push_str(&format!("Eos-Reason: {}\n", line(reason)));
        }
        text
    }
}

/// A trailer is one line; a line break in it could forge another.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_cannot_forge_a_trailer() {
        let trailers = Trailers {
            subject: "create x".into(),
            command: "eos create x\nEos-User: root".into(),
            user: "kim".into(),
            author: ("Kim".into(), "kim@example.org".into()),
            time: 0,
            reason: Some("because\rEos-Command: rm".into()),
        };
        assert_eq!(trailers.message().lines().filter(|l| l.starts_with("Eos-User:")).count(), 1);
        assert_eq!(trailers.message().lines().filter(|l| l.starts_with("Eos-Command:")).count(), 1);
    }
}
