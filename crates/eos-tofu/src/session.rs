//! One unit and the tofu that runs for it. What it can do stands in the files named after it: init, plan, apply, outputs,
//! state, state commands, passthrough.

use crate::{ChildEnvironment, Children, Tofu, WorkFolder};

/// Everything a call needs. Cheap to clone; calls of one unit must not overlap, those of different units may.
#[derive(Debug, Clone)]
pub struct Session {
    pub tofu: Tofu,
    pub folder: WorkFolder,
    pub environment: ChildEnvironment,
    pub children: Children,
}
