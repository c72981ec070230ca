//! Everything that can go wrong with a call of tofu, told apart by what a caller can do about it.

use std::fmt;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::{ServerKind, SilentServer, ToolDiagnostic};

#[derive(Debug, thiserror::Error)]
pub enum TofuError {
    #[error("{binary} cannot be run: {reason}")]
    NotInstalled { binary: Utf8PathBuf, reason: String },
    #[error("{binary} says it is `{said}`; tofu or terraform 1.11 or newer is needed")]
    Unsupported { binary: Utf8PathBuf, said: String },
    /// Somebody else holds the backend's lock. Nothing was done.
    #[error("{}: the state is locked by {} ({}, since {}, lock {})", failure.command, lock.who, lock.operation, lock.created, lock.id)]
    StateLocked { lock: Box<StateLock>, failure: Box<Failure> },
    /// The state could not be read or written because its backend does not answer.
    #[error("{}: the state's backend does not answer: {failure}", failure.command)]
    BackendDown { failure: Box<Failure> },
    /// A server took the call and said nothing, so tofu was ended while it only looked. Nothing was done.
    #[error("{}: {} at {} does not answer", failure.command, server.kind, server.address)]
    NoAnswer { server: Box<SilentServer>, failure: Box<Failure> },
    /// A provider plugin ended on its own.
    #[error("{}: a provider crashed: {failure}", failure.command)]
    ProviderCrashed { failure: Box<Failure> },
    /// The saved plan no longer fits the state. Nothing was done.
    #[error("{}: the saved plan is stale", failure.command)]
    PlanStale { failure: Box<Failure> },
    /// Changes were made, and the backend did not take the new state. Where tofu could leave it in a file, nothing may be
    /// planned before that is pushed ([`crate::Session::push_unsaved_state`]).
    #[error("{}: the new state could not be saved: {failure}", failure.command)]
    StateNotSaved { file: Option<Utf8PathBuf>, failure: Box<Failure> },
    /// The backend has another state by now, or tofu cannot read the one that it left.
    #[error("tofu state push: {reason}")]
    StateRefused { reason: String },
    /// It stopped because it was interrupted; what was finished by then is in the state.
    #[error("{} was interrupted", failure.command)]
    Interrupted { failure: Box<Failure> },
    /// It was ended by a signal that was not our interrupt: the state may lag behind what was done.
    #[error("{} was killed by signal {signal}", failure.command)]
    Killed { signal: i32, failure: Box<Failure> },
    #[error("{} failed: {failure}", failure.command)]
    Failed { failure: Box<Failure> },
    #[error("{operation}: {source}")]
    Io { operation: String, source: std::io::Error },
    /// Tofu answered with something this version of eos does not understand.
    #[error("{what} is not understood: {reason}")]
    Unreadable { what: String, reason: String },
}

/// What a failed call left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// `tofu plan`, without its arguments.
    pub command: String,
    pub exit: Exit,
    pub diagnostics: Vec<ToolDiagnostic>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// Who holds the lock of a state, as its backend recorded it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateLock {
    pub id: String,
    pub path: String,
    pub operation: String,
    pub who: String,
    pub version: String,
    pub created: String,
    pub info: String,
}

impl StateLock {
    /// It is over in a moment: its holder only looks, or is about to say who it is.
    pub fn is_passing(&self) -> bool {
        self.operation == "OperationTypePlan" || self.id.is_empty()
    }
}

impl TofuError {
    /// What tofu left behind, when it ran at all.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            TofuError::StateLocked { failure, .. }
            | TofuError::BackendDown { failure }
            | TofuError::NoAnswer { failure, .. }
            | TofuError::ProviderCrashed { failure }
            | TofuError::PlanStale { failure }
            | TofuError::StateNotSaved { failure, .. }
            | TofuError::Interrupted { failure }
            | TofuError::Killed { failure, .. }
            | TofuError::Failed { failure } => Some(failure),
            TofuError::NotInstalled { .. }
            | TofuError::Unsupported { .. }
            | TofuError::StateRefused { .. }
            | TofuError::Io { .. }
            | TofuError::Unreadable { .. } => None,
        }
    }

    pub(crate) fn io(operation: impl Into<String>) -> impl FnOnce(std::io::Error) -> TofuError {
        let operation = operation.into();
        move |source| TofuError::Io { operation, source }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut errors = self.diagnostics.iter().filter(|d| d.is_error()).peekable();
        if errors.peek().is_some() {
            for (index, error) in errors.enumerate() {
                if index > 0 {
                    f.write_str("; ")?;
                }
                error.fmt(f)?;
            }
            return Ok(());
        }
        match self.stderr.trim() {
            "" => write!(f, "{}", self.exit),
            text => write!(f, "{}: {text}", self.exit),
        }
    }
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerKind::Backend => "the state's backend",
            ServerKind::Nomad => "Nomad",
        })
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}
