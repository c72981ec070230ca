//! The runs of an estate, as their journals tell.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, codes};

use crate::applied::AppliedUnit;
use crate::journal::{self, Journal};
use crate::layout::Layout;
use crate::problems;
use crate::record::{Begun, Outcome, Record};
use crate::run_id::RunId;
use crate::run_state::{Run, UnitState};

/// A run and whether some process has it now.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    pub run: Run,
    pub in_progress: bool,
}

/// Runs that are not over, the latest first; problems with journals that cannot be read.
pub fn open(layout: &Layout) -> Result<(Vec<Known>, Diagnostics), Diagnostic> {
    let (mut found, problems) = list(layout, names(&layout.runs())?)?;
    found.retain(|known| !known.run.is_finished());
    Ok((found, problems))
}

/// Runs, the latest first: all that are not over, however long ago they began, and of those that are at most `most`.
pub fn all(layout: &Layout, most: usize) -> Result<(Vec<Known>, Diagnostics), Diagnostic> {
    let mut finished = names(&layout.runs().join("finished"))?;
    let mut every = finished.split_off(finished.len().saturating_sub(most));
    every.extend(names(&layout.runs())?);
    every.sort();
    every.dedup();
    list(layout, every)
}

/// A failure that a later run has left as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierFailure<'a> {
    pub run: &'a Run,
    pub reasons: &'a [String],
}

/// Why units failed in runs that a later one took the place of. `runs` are the latest first; the reason of a run that is not
/// over is its own to tell, and what was done or taken back since has none.
pub fn earlier_failures<'a>(
    runs: &'a [Known],
    env: &EnvName,
    units: &BTreeSet<&'a Name>,
) -> BTreeMap<&'a Name, EarlierFailure<'a>> {
    let mut found = BTreeMap::new();
    for name in units {
        let tries = runs.iter().filter(|known| known.run.begun.env == *env);
        let mut tries = tries.filter_map(|known| Some((&known.run, known.run.units.get(*name)?)));
        let last = tries.find(|(_, unit)| {
            matches!(unit.state, UnitState::Done | UnitState::Undone) || !unit.last_failure.is_empty()
        });
        if let Some((run, unit)) =
            last.filter(|(run, unit)| run.is_finished() && !unit.last_failure.is_empty())
        {
            found.insert(*name, EarlierFailure { run, reasons: &unit.last_failure });
        }
    }
    found
}

/// The name of the latest run.
pub(crate) fn latest(layout: &Layout) -> Result<Option<RunId>, Diagnostic> {
    let (open, finished) = (names(&layout.runs())?, names(&layout.runs().join("finished"))?);
    Ok(open.into_iter().last().max(finished.into_iter().last()))
}

fn list(layout: &Layout, names: Vec<RunId>) -> Result<(Vec<Known>, Diagnostics), Diagnostic> {
    let mut found = Vec::new();
    let mut problems = Diagnostics::new();
    for name in names.into_iter().rev() {
        match read(layout, &name) {
            Ok(Some(known)) => found.push(known),
            // Killed while it was begun: nothing was done.
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }
    Ok((found, problems))
}

/// One run.
pub fn find(layout: &Layout, run: &RunId) -> Result<Known, Diagnostic> {
    read(layout, run)?.ok_or_else(|| no_such(layout, run))
}

/// The latest run of an environment that is not over.
pub fn unfinished(layout: &Layout, env: &EnvName) -> Result<Option<Known>, Diagnostics> {
    let (runs, problems) = open(layout)?;
    let problems = problems.into_result();
    match runs.into_iter().find(|known| known.run.begun.env == *env) {
        Some(known) => Ok(Some(known)),
        // A journal that cannot be read may be the one.
        None => problems.map(|_| None),
    }
}

pub(crate) fn no_such(layout: &Layout, run: &RunId) -> Diagnostic {
    Diagnostic::error(codes::NO_SUCH_RUN, format!("there is no run {run}")).fix(instead(layout))
}

/// What to type where a run was named that nothing can be done about: the one that is not over, if there is one.
pub fn instead(layout: &Layout) -> String {
    let known = open(layout).map(|(known, _)| known).unwrap_or_default();
    match known.iter().find(|known| !known.in_progress) {
        Some(known) => format!("eos resume {} goes on with the run that is not over", known.run.begun.run),
        None => "no run is unfinished; eos plan shows what there is to do".to_owned(),
    }
}

/// Whether a run stands in the way of a change of these units: it is about one of them too, so that the change would take its
/// place, and whatever unit it left half-done nobody would know of any more.
pub fn is_in_the_way(run: &Run, is_changed: impl Fn(&Name) -> bool) -> bool {
    run.half_done().next().is_some() && run.units.keys().any(is_changed)
}

/// Refuses what would build on a half-done run, or hide what it left.
pub fn refuse_half_done(layout: &Layout, env: &EnvName, units: &BTreeSet<&Name>) -> Result<(), Diagnostics> {
    let (runs, unreadable) = open(layout)?;
    unreadable.into_result()?;
    // One that goes on holds leases, which decide.
    let mut others = runs.iter().filter(|known| known.run.begun.env == *env && !known.in_progress);
    match others.find(|known| is_in_the_way(&known.run, |name| units.contains(name))) {
        Some(known) => Err(left_half_done(&known.run).into()),
        None => Ok(()),
    }
}

fn left_half_done(run: &Run) -> Diagnostic {
    let half: Vec<&str> = run.half_done().map(|(name, _)| name.as_str()).collect();
    let message = format!("run {} ({}) left {} half-done", run.begun.run, run.begun.command, half.join(", "));
    Diagnostic::error(codes::RUN_UNFINISHED, message)
        .why("a second run on top would hide what the first did")
        .fix("eos status shows it; then eos resume or eos undo")
}

/// A run takes the place of those of its units that ended cleanly without being finished.
pub(crate) fn take_the_place(layout: &Layout, begun: &Begun, now: i64) -> Result<(), Diagnostics> {
    let (runs, _) = open(layout)?;
    let earlier = |known: &&Known| known.run.begun.env == begun.env && known.run.begun.run != begun.run;
    for known in runs.iter().filter(earlier).filter(|known| !known.in_progress) {
        let run = &known.run;
        if !run.units.keys().any(|name| begun.units.contains_key(name)) {
            continue;
        }
        let (mut journal, _) =
            Journal::open::<Record>(&layout.journal(&run.begun.run)).map_err(|e| problems::journal(&e))?;
        let record = Record::Ended { at: now, outcome: Outcome::Superseded };
        journal.append(&record).map_err(|e| problems::journal(&e))?;
        put_away(layout, &run.begun.run);
    }
    Ok(())
}

/// Moves the journal of a run that is over for good. What fails here is only slower next time.
pub(crate) fn put_away(layout: &Layout, run: &RunId) {
    let (from, to) = (layout.journal(run), layout.finished_journal(run));
    let _ = journal::trim(&from);
    let _ = fs_err::create_dir_all(layout.runs().join("finished"));
    let _ = fs_err::rename(from, to);
}

/// Refuses to fill a unit's folder while a tofu of a killed run still works in it. Also of a run that is over: one that a
/// later run of another clone overtook, by what the store says began to change the unit.
pub(crate) fn refuse_live_children(
    layout: &Layout,
    env: &EnvName,
    units: &BTreeSet<&Name>,
    applied: &BTreeMap<Name, AppliedUnit>,
) -> Result<(), Diagnostics> {
    let (mut runs, _) = open(layout)?;
    let begun = units.iter().filter_map(|name| applied.get(*name)?.attempt.as_ref());
    let over: BTreeSet<&RunId> = begun.filter(|attempt| !attempt.over).map(|attempt| &attempt.run).collect();
    runs.extend(
        over.into_iter().filter_map(|run| find(layout, run).ok().filter(|known| known.run.is_finished())),
    );
    let mut found = Diagnostics::new();
    for known in runs.iter().filter(|known| known.run.begun.env == *env) {
        for (name, unit) in known.run.half_done().filter(|(name, _)| units.contains(name)) {
            if !known.in_progress
                && let Some(child) = unit.child.filter(|child| child.still_running())
            {
                let run = &known.run.begun.run;
                let message = format!(
                    "{name} is still being applied by tofu (pid {}), left over from run {run}",
                    child.pid
                );
                let fix = match known.run.is_finished() {
                    true => "wait until it has ended, then the same again",
                    false => "eos resume waits for it and goes on",
                };
                found.push(Diagnostic::error(codes::RUN_UNFINISHED, message).fix(fix));
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// The journal of a run that was over, back where runs are written.
pub(crate) fn bring_back(layout: &Layout, run: &RunId) -> Result<(), Diagnostic> {
    let (there, here) = (layout.finished_journal(run), layout.journal(run));
    if here.exists() || !there.exists() {
        return Ok(());
    }
    fs_err::rename(there, here).map_err(|e| {
        Diagnostic::error(codes::JOURNAL, format!("cannot take up the journal of run {run}: {e}"))
    })
}

fn read(layout: &Layout, run: &RunId) -> Result<Option<Known>, Diagnostic> {
    let Some(path) =
        [layout.journal(run), layout.finished_journal(run)].into_iter().find(|path| path.exists())
    else {
        return Ok(None);
    };
    let records: Vec<Record> = journal::read(&path).map_err(|e| problems::journal(&e))?;
    let folded = Run::fold(&records).map_err(|e| problems::impossible(run, &e))?;
    let in_progress = journal::in_use(&path).map_err(|e| problems::journal(&e))?;
    Ok(folded.map(|run| Known { run, in_progress }))
}

fn names(folder: &Utf8Path) -> Result<Vec<RunId>, Diagnostic> {
    let entries = match folder.read_dir_utf8() {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Diagnostic::error(codes::JOURNAL, format!("cannot list .eos/state/runs: {error}")));
        }
    };
    let mut names: Vec<RunId> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().strip_suffix(".journal")?.parse().ok())
        .collect();
    names.sort();
    Ok(names)
}
