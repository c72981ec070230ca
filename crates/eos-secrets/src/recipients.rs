//! Who may read the secrets: `secrets/recipients.txt`, one public key a line, the comment above it says whose.
//!
//! Lines that are not touched stay as they are. `age -R` takes the file as it is.

use std::fmt;
use std::str::FromStr;

use age::x25519;
use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, Place, codes};

/// A public key, `age1…`.
#[derive(Clone, PartialEq, Eq)]
pub struct Recipient(x25519::Recipient);

impl Recipient {
    pub(crate) fn of(key: x25519::Recipient) -> Recipient {
        Recipient(key)
    }

    pub(crate) fn key(&self) -> &x25519::Recipient {
        &self.0
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Recipient {
    type Err = Diagnostic;
    fn from_str(text: &str) -> Result<Recipient, Diagnostic> {
        text.parse().map(Recipient).map_err(|problem: &str| {
            let error = |message: String| Diagnostic::error(codes::BAD_RECIPIENT, message);
            if is_secret_key(text) {
                return error("this is a secret key and not a public one".to_owned())
                    .why("whoever reads this file could now read every secret")
                    .fix("remove the line, make a new identity and rotate the secrets; the public key starts with age1");
            }
            error(format!("{text:?} is not a recipient"))
                .why(format!("{problem}; a recipient is a public key of age and starts with age1"))
                .fix("eos secret identity, run by that person, prints it")
        })
    }
}

fn is_secret_key(text: &str) -> bool {
    text.to_ascii_uppercase().contains("AGE-SECRET-KEY-")
}

enum Line {
    /// A comment or a blank line.
    Other(String),
    Key(Recipient),
}

/// The parsed file.
#[derive(Default)]
pub struct Recipients(Vec<Line>);

impl Recipients {
    /// Reads the file's text; every bad line is reported.
    pub fn parse(file: &Utf8Path, text: &str) -> Result<Recipients, Diagnostics> {
        let mut recipients = Recipients::default();
        let mut found = Diagnostics::new();
        for (number, line) in (1..).zip(text.lines()) {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                recipients.0.push(Line::Other(line.trim_end().to_owned()));
                continue;
            }
            let shown = if is_secret_key(line) { "•••".to_owned() } else { line.to_owned() };
            let place = Place { file: file.to_owned(), line: number, column: 1, text: shown };
            match trimmed.parse() {
                Ok(key) if recipients.contains(&key) => {
                    found.push(
                        Diagnostic::warning(codes::BAD_RECIPIENT, format!("{key} is listed twice"))
                            .at(place)
                            .fix("remove one of the two lines"),
                    );
                }
                Ok(key) => recipients.0.push(Line::Key(key)),
                Err(problem) => found.push(problem.at(place)),
            }
        }
        // A key listed twice is kept once: not worth stopping for.
        found.into_result().map(|_| recipients)
    }

    /// The file's text.
    pub fn format(&self) -> String {
        self.0
            .iter()
            .map(|line| match line {
                Line::Other(text) => format!("{text}\n"),
                Line::Key(key) => format!("{key}\n"),
            })
            .collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Recipient> {
        self.0.iter().filter_map(|line| match line {
            Line::Key(key) => Some(key),
            Line::Other(_) => None,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    pub fn contains(&self, recipient: &Recipient) -> bool {
        self.iter().any(|key| key == recipient)
    }

    /// Each key with the comment right above it.
    pub fn with_owners(&self) -> Vec<(&Recipient, Option<&str>)> {
        let owner = |at: usize| match at.checked_sub(1).map(|above| &self.0[above]) {
            Some(Line::Other(text)) => {
                text.trim().strip_prefix('#').map(str::trim).filter(|who| !who.is_empty())
            }
            _ => None,
        };
        let keys = self.0.iter().enumerate();
        keys.filter_map(|(at, line)| if let Line::Key(key) = line { Some((key, owner(at))) } else { None })
            .collect()
    }

    /// Adds a key at the end, under a comment that says whose it is.
    pub fn add(&mut self, recipient: Recipient, who: &str) -> Result<(), Diagnostics> {
        if self.contains(&recipient) {
            return Err(Diagnostic::error(
                codes::BAD_RECIPIENT,
                format!("{recipient} is already a recipient"),
            )
            .why("each key is listed once")
            .fix("nothing is to be done; eos secret recipients shows them all")
            .into());
        }
        // One line, whatever was given: a line break would begin a key.
        let who = who.split_whitespace().collect::<Vec<_>>().join(" ");
        if !who.is_empty() {
            self.0.push(Line::Other(format!("# {who}")));
        }
        self.0.push(Line::Key(recipient));
        Ok(())
    }

    /// Removes a key and the comment right above it. The last one stays: nobody could read anything.
    pub fn remove(&mut self, recipient: &Recipient) -> Result<(), Diagnostics> {
        let error = |message: String| Diagnostic::error(codes::BAD_RECIPIENT, message);
        let Some(at) = self.0.iter().position(|line| matches!(line, Line::Key(key) if key == recipient))
        else {
            return Err(error(format!("{recipient} is not a recipient"))
                .why("secrets/recipients.txt does not list it")
                .fix("eos secret recipients shows who is")
                .into());
        };
        if self.iter().count() == 1 {
            return Err(error(format!("{recipient} is the only recipient"))
                .why("without a recipient nobody could read the secrets")
                .fix("add another first: eos secret recipients add age1… --who <name>")
                .into());
        }
        self.0.remove(at);
        if at > 0 && matches!(&self.0[at - 1], Line::Other(text) if text.trim_start().starts_with('#')) {
            self.0.remove(at - 1);
        }
        Ok(())
    }
}
