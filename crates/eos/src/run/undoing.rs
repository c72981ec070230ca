//! Taking a run back begins in the pillar: a commit that says again what was said of its units before the run.

use std::collections::{BTreeMap, BTreeSet};

use eos_compile::intent::{component_path, ours};
use eos_engine::record::{Direction, Intended};
use eos_engine::{Applied, AppliedUnit, Archive, Digest, Layout, Outcome, Run, RunId, Unit, Units};
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, UnitId, codes};
use eos_pillar::{Change, Environment};

use super::{Runs, going_back, never_applied};
use crate::build_folder;
use crate::commands::Call;
use crate::commands::delete::take_out;
use crate::loaded::Loaded;
use crate::recording::Message;

/// The commit before a run: what the environment was last applied from, or the one before the run's own.
fn before(loaded: &Loaded, run: &Run) -> Result<String, Diagnostic> {
    match &run.begun.before {
        Some(commit) => Ok(commit.clone()),
        None => loaded.estate.git.revision(&format!("{}~1", run.begun.commit)),
    }
}

/// The change that makes an environment ask for what it asked for at `commit`. What other environments ask for stays. A secret
/// that is gone comes back only for what is asked for again: it was purged otherwise.
pub fn change_back(loaded: &Loaded, env: &EnvName, commit: &str) -> Result<Change, Diagnostic> {
    let mut change = loaded.estate.git.change_back_to(commit)?;
    let others: Vec<&EnvName> =
        loaded.estate.file.environments.keys().filter(|other| *other != env).collect();
    // A pillar that cannot be read is told of when it is compiled.
    let then = loaded.tree.with(&change).environment(env).ok();
    let asks = |name: &str| then.as_ref().is_none_or(|then| then.components.contains_key(name));
    change.files.retain(|path, _| {
        let words: Vec<&str> = path.components().map(|word| word.as_str()).collect();
        match words[..] {
            [eos_secrets::FOLDER, of, name, _] => of == env.as_str() && asks(name),
            // A file right below has the same place in the path as an environment's folder.
            [_, _, folder, _, ..] => !others.iter().any(|other| folder == other.as_str()),
            _ => true,
        }
    });
    if let (Some(then), Ok(now)) = (then, loaded.environment(env)) {
        remember_data(loaded, &now, &then, &mut change);
    }
    Ok(change)
}

/// Where data is does not go back with the rest: the pillar remembers what is there now. What is no longer asked for goes
/// as `eos delete` lets it go, and what was purged since stays forgotten.
fn remember_data(loaded: &Loaded, now: &Environment, then: &Environment, change: &mut Change) {
    let known: BTreeSet<&Name> =
        now.components.keys().chain(now.kept.keys()).chain(then.kept.keys()).collect();
    for name in known.into_iter().filter(|name| !then.components.contains_key(*name)) {
        let path = component_path(&now.name, name);
        let Some(asked) = change.files.get(&path) else { continue };
        let is_own = |bytes: &[u8]| ours(&path, bytes);
        if !(asked.as_deref().is_none_or(is_own) && loaded.tree.get(&path).is_none_or(is_own)) {
            continue;
        }
        change.files.remove(&path);
        let Some(entry) = now.components.get(name) else { continue };
        match never_applied(&loaded.estate, &now.name, name.as_str()) {
            true => change.remove(path),
            false => {
                take_out(loaded, entry, path, change);
            }
        }
    }
}

/// What can be done about a run that stopped half-way: `eos undo` is offered where it would not be refused.
pub fn ways_on(loaded: &Loaded, run: &Run, applied: &BTreeMap<Name, AppliedUnit>) -> String {
    let stuck = run.verdict() == Outcome::Stuck;
    let after = if stuck { "look after what is listed, then " } else { "" };
    let resume = match (stuck, run.direction) {
        (false, Direction::Forward) => "eos resume goes on with it".to_owned(),
        (true, Direction::Forward) => format!("{after}eos resume --looked-after goes on with it"),
        (false, Direction::Undo) => return "eos resume goes on taking it back".to_owned(),
        (true, Direction::Undo) => return format!("{after}eos resume --looked-after goes on taking it back"),
    };
    match (going_back::change_of(loaded, run, applied, &BTreeSet::new()), before(loaded, run)) {
        // A rollback is a run of its own, which is refused as long as something is half-done.
        (Err(_), _) if run.half_done().next().is_some() => resume,
        // The pillar asked for all of it before the run, and for what builds on it.
        (Err(_), Ok(before))
            if change_back(loaded, &run.begun.env, &before).is_ok_and(|it| it.is_empty()) =>
        {
            format!("{resume}; eos delete takes a name out of the pillar, and away")
        }
        (Err(_), Ok(before)) => format!(
            "{resume}; since the pillar was changed after it, eos rollback {} takes both back, the changes and the run",
            before.get(..10).unwrap_or(&before)
        ),
        _ if stuck => format!("{resume}, eos undo --looked-after takes it back"),
        _ => format!("{resume}, eos undo takes it back"),
    }
}

/// Records that the run's units are asked for as before it; gives the commit that is to be applied then.
pub fn revert(call: &Call<'_>, runs: &Runs, run: &RunId) -> Result<String, Diagnostic> {
    record(call, runs, run).map_err(first_of)
}

fn record(call: &Call<'_>, runs: &Runs, run: &RunId) -> Result<String, Diagnostics> {
    let mut loaded = Loaded::open_for_change(call.context)?;
    let known = eos_engine::runs::find(&runs.layout, run)?.run;
    let applied = Applied::new(runs.records.as_ref()).units(&known.begun.env)?;
    let engine = runs.engine(&eos_engine::observer::Unwatched, &eos_engine::observer::Trusting);
    let change = going_back::change_of(&loaded, &known, &applied, &engine.without_data(run)?)?;
    let message = Message::about(call, format!("undo run {run}"));
    let trailers = message.trailers(call.context, loaded.estate.git.identity());
    loaded.estate.commit(&change, &trailers)?;
    Ok(loaded.estate.commit_id().unwrap_or_default())
}

/// What a run brings its units to and what it would bring them back to: all that going on with it or taking it back is
/// about, whatever the pillar says by now. What is not archived here the engine tells of.
pub fn bytes_of(layout: &Layout, run: &Run) -> [Units; 2] {
    let (env, archive) = (&run.begun.env, Archive::new(layout));
    let read = |name: &Name, digest: &Digest| {
        archive.read(&UnitId { env: env.clone(), name: name.clone() }, digest).ok()
    };
    let units = |digest: &dyn Fn(&Intended) -> Option<Digest>| {
        let found = run.begun.units.iter().filter_map(|(name, unit)| {
            let unit = read(name, &digest(unit)?)?;
            Some((name.clone(), unit))
        });
        Units { env: env.clone(), units: found.collect() }
    };
    [units(&|unit| Some(unit.digest.clone())), units(&|unit| unit.before.as_ref()?.digest.clone())]
}

/// Brings build/ to what the pillar says now, and gives that. A pillar with a mistake in it leaves build/ as it is.
pub fn compile_again(call: &Call<'_>, env: &EnvName) -> Result<Units, Diagnostics> {
    let again = || {
        let loaded = Loaded::open_for_build(call.context)?;
        let compiled = loaded.compile(&loaded.tree, env)?;
        build_folder::sync(&loaded.estate.root, env, &compiled.files)?;
        super::units(env, &compiled.files)
    };
    again().map_err(|found: Diagnostics| {
        let first = found.0.first();
        let code = first.map_or(codes::CANNOT_WRITE, |first| first.code);
        let message = first.map_or_else(String::new, |first| first.message.clone());
        Diagnostic::warning(code, format!("build/{env} is not up to date: {message}"))
            .why("the run did not need it: it works with the bytes that were applied")
            .fix(format!("eos compile --env {env} tells all"))
            .into()
    })
}

/// What is recorded and not applied is not the run's to take back, and stays: a person should know. Of what another run has
/// left `half_done` that run goes first.
pub fn still_asked_for(
    units: &Units,
    applied: &BTreeMap<Name, AppliedUnit>,
    half_done: &BTreeMap<Name, RunId>,
) -> Vec<String> {
    let is_applied = |name: &Name, unit: &Unit| {
        applied.get(name).is_some_and(|applied| applied.digest.as_ref() == Some(&unit.digest))
    };
    let left: Vec<&str> = units
        .units
        .iter()
        .filter(|(name, unit)| !is_applied(name, unit) && !half_done.contains_key(*name))
        .map(|(name, _)| name.as_str())
        .collect();
    let mut notes = Vec::new();
    if !left.is_empty() {
        notes.push(format!(
            "Recorded apart from the run and not applied: {}. eos plan shows it, eos apply does it.",
            left.join(", ")
        ));
    }
    let open: BTreeSet<&RunId> = half_done.values().collect();
    for run in open {
        let of_run = half_done.iter().filter(|(_, its)| *its == run).map(|(name, _)| name.as_str());
        notes.push(format!(
            "Left half-done by run {run}: {}. eos resume {run} goes on with it.",
            of_run.collect::<Vec<_>>().join(", ")
        ));
    }
    notes
}

/// Units that runs which are not over left between two states, with the run.
pub fn half_done(layout: &Layout, env: &EnvName) -> Result<BTreeMap<Name, RunId>, Diagnostic> {
    let (open, _) = eos_engine::runs::open(layout)?;
    let of_env = open.iter().filter(|known| known.run.begun.env == *env);
    let units = of_env
        .flat_map(|known| known.run.half_done().map(|(name, _)| (name.clone(), known.run.begun.run.clone())));
    Ok(units.collect())
}

fn first_of(found: Diagnostics) -> Diagnostic {
    let mut found = found.0;
    found.swap_remove(0)
}
