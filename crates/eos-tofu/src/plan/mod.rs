//! Plans: what to ask for, and what a saved plan says, redacted.

mod action;
mod change;
mod options;
mod parse;
mod raw;
mod run;

pub use action::{Action, Mode};
pub use change::{AttributeChange, Check, CheckStatus, OutputChange, Plan, PriorResource, ResourceChange};
pub use options::{PlanOptions, Planned, Refresh};
