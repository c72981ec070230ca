//! What to run, and who can run it.

use crate::error::SaltError;
use crate::pillar::Pillar;
use crate::report::Report;

/// Asked between steps of a run: true ends it as soon as that does no harm.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// One run of states on one target.
#[derive(Debug)]
pub struct StateRun<'a> {
    /// The Salt minion id.
    pub target: &'a str,
    /// The grain by which the estate's top.sls tells environments apart; a minion behind a master has its own.
    pub environment: Option<&'a str>,
    /// The states as plain sls.
    pub sls: &'a str,
    /// Added to the target's own pillar, and stronger than it.
    pub pillar: &'a Pillar,
    /// Only say what would change.
    pub test: bool,
}

/// Runs states, and returns when they are done, failed or stopped.
pub trait RunsStates: Send + Sync {
    fn run(&self, run: &StateRun<'_>, stop: Stop<'_>) -> Result<Report, SaltError>;
}
