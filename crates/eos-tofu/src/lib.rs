//! Drives the real tofu (or terraform): fills a folder with a unit's compiled bytes, initialises, plans to a file, shows
//! the plan as typed and redacted Rust, applies it with its event stream, reads outputs and state.
//!
//! Blocking: processes, files and a few threads. The library prints nothing and reads no variable of the environment;
//! a child's environment is built from nothing ([`ChildEnvironment`]).
//!
//! Two promises hold everywhere. A sensitive value never leaves this crate: plans, outputs and state are redacted while
//! they are parsed. And a child outlives us safely: it has its own process group, writes its log to files instead of
//! pipes (a broken pipe would kill it in the middle of an apply), and gets one interrupt at most.

mod apply;
mod backend;
mod call;
mod child;
mod children;
mod classify;
mod diagnostic;
mod encryption;
mod environment;
mod error;
mod event;
mod files;
mod init;
mod installation;
mod lock_file;
mod log;
mod outputs;
mod passthrough;
mod places;
mod plan;
mod proc;
mod redact;
mod requirements;
mod running;
mod secrets_seen;
mod session;
mod state;
mod state_commands;
mod tool;
mod unsaved;
mod value;
mod work_folder;

pub use apply::{Applied, Applying, PastApply};
pub use backend::Backend;
pub use child::ChildIdentity;
pub use children::{Children, ServerKind, SilentServer};
pub use diagnostic::{DiagnosticSeverity, ToolDiagnostic};
pub use encryption::{BadKeyRequest, Encryption, state_key_response};
pub use environment::ChildEnvironment;
pub use error::{Exit, Failure, StateLock, TofuError};
pub use event::{ChangeCounts, Event, EventOutput};
pub use init::InitOutcome;
pub use installation::{Installation, InstallationSettings, OfflineProvider, cli_config, platform};
pub use outputs::{Output, Outputs};
pub use places::Places;
pub use plan::{
    Action, AttributeChange, Check, CheckStatus, Mode, OutputChange, Plan, PlanOptions, Planned,
    PriorResource, Refresh, ResourceChange,
};
pub use session::Session;
pub use state::{State, StateInstance, StateResource};
pub use tool::{Flavor, Tofu, ToolVersion};
pub use unsaved::UnsavedState;
pub use value::{Path, PathStep, Shown};
pub use work_folder::{UnitFiles, WorkFolder};
