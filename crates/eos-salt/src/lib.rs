//! A Salt client: runs states that are given as text, and says in types what became of each.
//!
//! Two ways, one trait ([`RunsStates`]): [`Masterless`] runs them on this machine through Salt's own Python environment,
//! in a private folder; [`SaltApi`] hands them to a minion through salt-api. Both give a [`Report`] or a [`SaltError`].
//!
//! A failing state is part of the report, not an error of the run: a preview shows it, an apply decides on it.
//! Secrets of the pillar never leave: whatever text comes back has `•••` in their place, and none is ever in the
//! arguments of a process. The library reads no variable of the environment and writes only below the folders it is given.

mod api;
mod error;
mod high_data;
mod masterless;
mod outputs_pillar;
mod pillar;
mod redact;
mod report;
mod returned;
mod run;
mod target_lock;

pub use api::{ApiSettings, Credentials, SaltApi};
pub use error::SaltError;
pub use masterless::{Installation, Masterless, MasterlessSettings, WarmServer, sweep};
pub use outputs_pillar::TERRAFORM_OUTPUTS;
pub use pillar::{NotAPillar, Pillar};
pub use redact::{DOTS, Redactor};
pub use report::{Outcome, Report, StateResult};
pub use run::{RunsStates, StateRun, Stop};
