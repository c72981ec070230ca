//! What tofu does to an object.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// What kind of thing an address is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Managed,
    Data,
    Ephemeral,
    /// A mode of a newer tofu.
    #[default]
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    NoOp,
    Create,
    Read,
    Update,
    Delete,
    /// Replaced: destroyed first.
    DeleteThenCreate,
    /// Replaced: created first.
    CreateThenDelete,
    /// Dropped from the state, kept in the world.
    Forget,
    /// Replaced while the old object is kept in the world.
    ForgetThenCreate,
    /// An ephemeral resource.
    Open,
    /// Moved in the state.
    Move,
    Import,
    /// An action of a newer tofu: treat as the worst.
    Other(String),
}

impl Action {
    pub fn is_no_op(&self) -> bool {
        matches!(self, Action::NoOp)
    }

    pub fn is_replace(&self) -> bool {
        matches!(self, Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate)
    }

    /// Whether an object is destroyed, or might be.
    pub fn destroys(&self) -> bool {
        matches!(
            self,
            Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete | Action::Other(_)
        )
    }

    /// Whether an object leaves tofu's care without being destroyed.
    pub fn forgets(&self) -> bool {
        matches!(self, Action::Forget | Action::ForgetThenCreate)
    }

    /// The list of words in a plan's JSON; their order tells how something is replaced.
    pub(crate) fn from_list(words: &[String]) -> Action {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            [] => Action::NoOp,
            ["delete", "create"] => Action::DeleteThenCreate,
            ["create", "delete"] => Action::CreateThenDelete,
            ["forget", "create"] | ["create", "forget"] => Action::ForgetThenCreate,
            [word] => Action::from_word(word),
            _ => Action::Other(words.join("-")),
        }
    }

    /// The word in the event stream, which does not tell the order of a replacement: the worse one is taken.
    pub(crate) fn from_word(word: &str) -> Action {
        match word {
            "no-op" | "noop" => Action::NoOp,
            "create" => Action::Create,
            "read" => Action::Read,
            "update" => Action::Update,
            "delete" => Action::Delete,
            "replace" => Action::DeleteThenCreate,
            "forget" | "remove" => Action::Forget,
            "open" => Action::Open,
            "move" => Action::Move,
            "import" => Action::Import,
            other => Action::Other(other.to_owned()),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Action::NoOp => "no-op",
            Action::Create => "create",
            Action::Read => "read",
            Action::Update => "update",
            Action::Delete => "delete",
            Action::DeleteThenCreate => "delete-create",
            Action::CreateThenDelete => "create-delete",
            Action::Forget => "forget",
            Action::ForgetThenCreate => "forget-create",
            Action::Open => "open",
            Action::Move => "move",
            Action::Import => "import",
            Action::Other(text) => text,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
