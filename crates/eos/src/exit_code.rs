//! Exit codes: 0 done, 1 failed, 2 there are changes, 3 the user's mistake, 4 refused, 5 stuck.

use eos_model::{Code, Diagnostics, Severity, codes};

pub const FAILED: u8 = 1;
pub const CHANGES: u8 = 2;
pub const MISTAKE: u8 = 3;
pub const REFUSED: u8 = 4;
pub const STUCK: u8 = 5;

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
    (codes::DIVERGED, REFUSED),
    (codes::NOT_OURS, REFUSED),
    (codes::STILL_NEEDED, REFUSED),
    (codes::FIXED_CHOICE, REFUSED),
    (codes::CANNOT_DECRYPT, FAILED),
    (codes::NO_SOURCE, FAILED),
    (codes::BAD_CHECKSUM, FAILED),
    (codes::NO_SPACE, FAILED),
    (codes::TOOL_BROKEN, FAILED),
    (codes::HIVE, FAILED),
    (codes::NOMAD, FAILED),
    (codes::JOB_FAILED, FAILED),
    (codes::JOB_NOT_OURS, FAILED),
    (codes::JOB_CHANGED, FAILED),
    (codes::BAD_JOB, FAILED),
    (codes::PROVIDER, FAILED),
    (codes::SALT, FAILED),
    (codes::STATE_FAILED, FAILED),
    (codes::BAD_STATES, FAILED),
    (codes::BAD_UNIT, FAILED),
    (codes::RUN_UNFINISHED, REFUSED),
    (codes::JOURNAL, FAILED),
    (codes::STALE_CLONE, REFUSED),
    (codes::STATE_ELSEWHERE, REFUSED),
    (codes::PLAN_STALE, REFUSED),
    (codes::NEED_UNAPPLIED, REFUSED),
    (codes::NOT_AGREED, REFUSED),
    (codes::DATA_AT_RISK, REFUSED),
    (codes::TOFU, FAILED),
    (codes::APPLY_FAILED, FAILED),
    (codes::UNHEALTHY, FAILED),
    (codes::STUCK, STUCK),
    (codes::LEASE_HELD, REFUSED),
    (codes::LEASE_LOST, FAILED),
    (codes::STATE_LOCKED, REFUSED),
    (codes::BACKEND_DOWN, FAILED),
    (codes::ARCHIVE, FAILED),
    (codes::STORE, FAILED),
    (codes::NO_OUTPUT, FAILED),
    (codes::STOPPED, FAILED),
    (codes::NOT_ONE_SETTING, REFUSED),
    (codes::NOT_REACHED, FAILED),
    (codes::NOT_THIS_MACHINE, REFUSED),
];

/// The first error decides.
pub fn of(found: &Diagnostics) -> u8 {
    let Some(first) = found.0.iter().find(|d| d.severity == Severity::Error) else { return FAILED };
    OTHERS.iter().find(|(code, _)| *code == first.code).map_or(MISTAKE, |(_, exit)| *exit)
}
