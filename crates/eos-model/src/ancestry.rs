//! How a commit stands to another.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ancestry {
    /// It is that commit, or was made from it.
    Contains,
    /// That one was made from it, or is not in this clone at all: whoever pulls has it.
    Behind,
    /// Both are here, and neither was made from the other.
    Beside,
}
