//! Taking a run back begins in the pillar: a commit that says again what was said before the run.

use std::collections::BTreeMap;

use eos_engine::record::Direction;
use eos_engine::{AppliedUnit, Outcome, Run, RunId, Unit, Units};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};
use eos_pillar::Change;

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

/// The change that makes an environment ask for what it asked for at `commit`. What other environments ask for stays.
pub fn change_back(loaded: &Loaded, env: &EnvName, commit: &str) -> Result<Change, Diagnostic> {
    let mut change = loaded.estate.git.change_back_to(commit)?;
    let others: Vec<&EnvName> =
        loaded.estate.file.environments.keys().filter(|other| *other != env).collect();
    change.files.retain(|path, _| {
        let mut folders = path.components().skip(2);
        let folder = folders.next();
        // A file right below has the same place in the path as an environment's folder.
        folders.next().is_none()
            || !others.iter().any(|other| folder.is_some_and(|f| f.as_str() == other.as_str()))
    });
    Ok(change)
}

/// Refuses to take back more than the run: what was recorded since would go too.
pub fn refuse_later_changes(loaded: &Loaded, run: &Run, before: &str) -> Result<(), Diagnostic> {
    let is_like = |commit: &str| Ok::<_, Diagnostic>(change_back(loaded, &run.begun.env, commit)?.is_empty());
    if is_like(&run.begun.commit)? || is_like(before)? {
        return Ok(());
    }
    Err(Diagnostic::error(
        codes::HEAD_MOVED,
        format!("the pillar was changed since run {} began", run.begun.run),
    )
    .why("taking the run back would take those changes back as well")
    .fix("eos history shows them; eos rollback <commit> goes back to a commit of your choice"))
}

/// What can be done about a run that stopped half-way: `eos undo` is offered where it would not be refused.
pub fn ways_on(loaded: &Loaded, run: &Run) -> String {
    let stuck = run.verdict() == Outcome::Stuck;
    let after = if stuck { "look after what is listed, then " } else { "" };
    let resume = match (stuck, run.direction) {
        (false, Direction::Forward) => "eos resume goes on with it".to_owned(),
        (true, Direction::Forward) => format!("{after}eos resume --looked-after goes on with it"),
        (false, Direction::Undo) => return "eos resume goes on taking it back".to_owned(),
        (true, Direction::Undo) => return format!("{after}eos resume --looked-after goes on taking it back"),
    };
    match before(loaded, run) {
        Ok(before) if refuse_later_changes(loaded, run, &before).is_err() => format!(
            "{resume}; since the pillar was changed after it, eos rollback {} takes both back, the changes and the run",
            before.get(..10).unwrap_or(&before)
        ),
        _ if stuck => format!("{resume}, eos undo --looked-after takes it back"),
        _ => format!("{resume}, eos undo takes it back"),
    }
}

/// Records that the estate is again as it was at `before`; gives the commit that is to be applied then.
pub fn revert(call: &Call<'_>, env: &EnvName, before: &str, run: &RunId) -> Result<String, Diagnostic> {
    record(call, env, before, run).map_err(first_of)
}

fn record(call: &Call<'_>, env: &EnvName, before: &str, run: &RunId) -> Result<String, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let change = change_back(&loaded, env, before)?;
    let message = Message::about(call, format!("undo run {run}"));
    let trailers = message.trailers(call.context, loaded.estate.git.identity());
    loaded.estate.commit(&change, &trailers)?;
    Ok(loaded.estate.commit_id().unwrap_or_default())
}

/// Brings build/ to what the pillar says now, and gives that.
pub fn compile_again(call: &Call<'_>, env: &EnvName) -> Result<Units, Diagnostics> {
    let loaded = Loaded::open_for_build(call.context)?;
    let compiled = loaded.compile(&loaded.tree, env)?;
    build_folder::sync(&loaded.estate.root, env, &compiled.files)?;
    super::units(env, &compiled.files)
}

/// What was recorded before the run and never applied by another one stays recorded: a person should know.
pub fn still_asked_for(units: &Units, applied: &BTreeMap<Name, AppliedUnit>) -> Option<String> {
    let is_applied = |name: &Name, unit: &Unit| {
        applied.get(name).is_some_and(|applied| applied.digest.as_ref() == Some(&unit.digest))
    };
    let left: Vec<&str> = units
        .units
        .iter()
        .filter(|(name, unit)| !is_applied(name, unit))
        .map(|(name, _)| name.as_str())
        .collect();
    (!left.is_empty()).then(|| {
        format!(
            "The pillar still asks for {}, as it did before the run: eos apply does it again, eos delete or eos rollback takes it out of the pillar.",
            left.join(", ")
        )
    })
}

fn first_of(found: Diagnostics) -> Diagnostic {
    let mut found = found.0;
    found.swap_remove(0)
}
