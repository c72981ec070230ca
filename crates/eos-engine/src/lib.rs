//! Runs: a plan over units, carried out so that it can be resumed, undone and explained.
//!
//! tofu does the work; the engine orders units, writes down what it is about to do before it does it, hands each unit
//! its inputs, looks whether it works, and remembers. It prints nothing, reads no variable of the environment and knows
//! no clock but the one it is given.
//!
//! Start at [`Engine`]: `plan` → [`RunPlan`] → `apply` → [`Report`]; `resume`, `undo`, `drift` and `plan_destroy`
//! beside it. What a run is at any moment is a pure fold over its journal: [`run_state::Run`].

mod account;
pub mod agreed;
pub mod applied;
pub mod archive;
mod ask_tofu;
mod by_hand;
mod carried_out;
pub mod change;
mod creations;
pub mod data;
mod data_in_care;
mod data_left;
mod desk_lock;
pub mod drift;
mod engine;
mod execute;
mod files;
pub mod guard;
pub mod jobs;
pub mod journal;
mod kept_only;
pub mod layout;
mod leases;
mod left_elsewhere;
mod let_go;
pub mod observer;
mod one_unit;
pub mod order;
mod outlook;
pub mod outputs;
pub mod plan;
mod plan_cipher;
pub mod plan_file;
mod planner;
pub mod problems;
mod reclaim;
pub mod record;
mod recover;
pub mod report;
mod resume;
pub mod run_id;
mod run_journal;
pub mod run_state;
pub mod runs;
mod seal;
mod settle;
mod survey;
pub mod treatment;
pub mod undo;
pub mod unit;
mod unrecorded;
pub mod walk;

pub use account::account_name;
pub use agreed::ChangeKind;
pub use applied::{Applied, AppliedEnvironment, AppliedUnit, Attempt, IgnoredDrift, KeptObject, SeenDrift};
pub use archive::Archive;
pub use change::{Billed, Cause, CauseKind, Change, DataNote, Fate, Field, OneOff, SettingChange, Touch};
pub use drift::{Drift, DriftRequest};
pub use engine::{Actor, Engine, Surroundings, Tools};
pub use execute::{RevertFirst, RunOptions};
pub use layout::Layout;
pub use leases::LeaseTerms;
pub use observer::{Health, Observer, Progress};
pub use plan::{Awaited, DestroyRequest, PlanRequest, RunPlan, UnitPlan, Verdict};
pub use record::{Goal, OnFailure, Outcome};
pub use report::{Report, UnitReport};
pub use resume::ResumeOptions;
pub use run_id::RunId;
pub use run_state::{Run, UnitState};
pub use undo::{UndoOptions, UndoPlan};
pub use unit::{Digest, Unit, Units};
