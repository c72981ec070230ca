//! Taking a run back begins in the pillar: a commit that says again what was said before the run.

use eos_engine::{Run, RunId};
use eos_model::{Diagnostic, Diagnostics, EnvName};

use crate::build_folder;
use crate::commands::Call;
use crate::loaded::Loaded;
use crate::recording::Message;

/// The commit before a run: what the environment was last applied from, or the one before the run's own.
pub fn before(loaded: &Loaded, run: &Run) -> Result<String, Diagnostic> {
    loaded.estate.git.revision(&format!("{}~1", run.begun.commit))
}

/// Records that the estate is again as it was at `before`; gives the commit that is to be applied then.
pub fn revert(call: &Call<'_>, before: &str, run: &RunId) -> Result<String, Diagnostic> {
    record(call, before, run).map_err(first_of)
}

fn record(call: &Call<'_>, before: &str, run: &RunId) -> Result<String, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let change = loaded.estate.git.change_back_to(before)?;
    let message = Message::about(call, format!("undo run {run}"));
    let trailers = message.trailers(call.context, loaded.estate.git.identity());
    loaded.estate.commit(&change, &trailers)?;
    Ok(loaded.estate.commit_id().unwrap_or_default())
}

/// Brings build/ to what the pillar says now.
pub fn compile_again(call: &Call<'_>, env: &EnvName) -> Result<(), Diagnostics> {
    let loaded = Loaded::open_for_build(call.context)?;
    let compiled = loaded.compile(&loaded.tree, env)?;
    build_folder::sync(&loaded.estate.root, env, &compiled.files)?;
    Ok(())
}

fn first_of(found: Diagnostics) -> Diagnostic {
    let mut found = found.0;
    found.swap_remove(0)
}
