//! A client of Nomad's HTTP API, as far as eos needs it: plan, register and watch jobs, read what became of them, keep
//! their secrets in Nomad Variables.
//!
//! Calls block. Whoever made the [`Client`] can end them early through its [`Stop`] token; every wait is bounded. Errors
//! are typed by what a caller does about them. A job's spec is JSON and passes through as it is: Nomad judges it.
//! Nothing is read from the environment, and no token or secret is part of a message.

mod allocation;
mod client;
mod connection;
mod deployment;
mod diff;
mod error;
mod evaluation;
mod explain;
mod job;
mod node;
mod stop;
mod variable;
mod watch;

pub use allocation::{Allocation, CheckResult, LogStream, TaskEvent, TaskState};
pub use client::{Client, Patience};
pub use connection::{Connection, DEFAULT_ADDRESS, Tls};
pub use deployment::{Deployment, GroupState};
pub use diff::{DiffKind, FieldDiff, JobDiff, ObjectDiff};
pub use error::Error;
pub use evaluation::{Evaluation, PlacementFailure, describe_placement};
pub use explain::explain;
pub use job::{DesiredUpdates, Job, JobPlan, Registered, TaskGroup, Update};
pub use node::{Agent, Driver, Node};
pub use stop::Stop;
pub use variable::Variable;
pub use watch::{Failure, Goal, Limits, Outcome, Progress, Reverted, watch};
