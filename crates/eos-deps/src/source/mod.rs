//! The sources beyond the search path and the cache. Each fetches, verifies and hands over one executable or a venv;
//! none of them decides what happens when it fails.

pub(crate) mod bundle;
pub(crate) mod go_module;
pub(crate) mod pypi;
pub(crate) mod release;

use crate::failure::Failure;

/// Who vouches for what the table has a sum of.
const OWN_TABLE: &str = "eos's own table";

/// Refuses bytes that are not the promised ones.
fn require_sum(what: &str, expected: &str, actual: &str, vouched_by: &str) -> Result<(), Failure> {
    if expected == actual {
        return Ok(());
    }
    Err(Failure::Checksum {
        what: what.to_owned(),
        expected: expected.to_owned(),
        actual: actual.to_owned(),
        vouched_by: vouched_by.to_owned(),
    })
}
