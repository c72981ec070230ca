//! Taking a run back begins in the pillar: a commit that says again what was said before the run.

use eos_engine::{Run, RunId};
use eos_model::{Diagnostic, Diagnostics, EnvName, codes};

use crate::build_folder;
use crate::commands::Call;
use crate::loaded::Loaded;
use crate::recording::Message;

/// The commit before a run: what the environment was last applied from, or the one before the run's own.
pub fn before(loaded: &Loaded, run: &Run) -> Result<String, Diagnostic> {
    match &run.begun.before {
        Some(commit) => Ok(commit.clone()),
        None => loaded.estate.git.revision(&format!("{}~1", run.begun.commit)),
    }
}

/// Refuses to take back more than the run: what was recorded since would go too.
pub fn refuse_later_changes(loaded: &Loaded, run: &Run, before: &str) -> Result<(), Diagnostic> {
    let git = &loaded.estate.git;
    if git.change_back_to(&run.begun.commit)?.is_empty() || git.change_back_to(before)?.is_empty() {
        return Ok(());
    }
    Err(Diagnostic::error(
        codes::HEAD_MOVED,
        format!("the pillar was changed since run {} began", run.begun.run),
    )
    .why("taking the run back would take those changes back as well")
    .fix("eos history shows them; eos rollback <commit> goes back to a commit of your choice"))
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
