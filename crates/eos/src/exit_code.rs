//! Exit codes: 0 done, 1 failed, 2 there are changes, 3 the user's mistake, 4 refused, 5 stuck.

use eos_model::{Code, Diagnostics, Severity, codes};

pub const FAILED: u8 = 1;
pub const CHANGES: u8 = 2;
pub const MISTAKE: u8 = 3;
pub const REFUSED: u8 = 4;

/// Codes that are not the user's mistake.
const OTHERS: &[(Code, u8)] = &[
    (codes::DIRTY_TREE, REFUSED),
    (codes::GIT, FAILED),
    (codes::CANNOT_WRITE, FAILED),
    (codes::NO_TERMINAL, REFUSED),
    (codes::HEAD_MOVED, REFUSED),
    (codes::CANNOT_READ, FAILED),
    (codes::CATALOG_CHANGED, REFUSED),
    (codes::DETACHED, REFUSED),
    (codes::NOT_OURS, REFUSED),
    (codes::STILL_NEEDED, REFUSED),
    (codes::FIXED_CHOICE, REFUSED),
    (codes::CANNOT_DECRYPT, FAILED),
    (codes::NO_SOURCE, FAILED),
    (codes::BAD_CHECKSUM, FAILED),
    (codes::NO_SPACE, FAILED),
    (codes::TOOL_BROKEN, FAILED),
    (codes::HIVE, FAILED),
];

/// The first error decides.
pub fn of(found: &Diagnostics) -> u8 {
    let Some(first) = found.0.iter().find(|d| d.severity == Severity::Error) else { return FAILED };
    OTHERS.iter().find(|(code, _)| *code == first.code).map_or(MISTAKE, |(_, exit)| *exit)
}
