//! Carrying a plan out: leases, journal, unit by unit, and what happens when one fails.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use eos_model::{Diagnostic, Diagnostics, Name, codes};

use crate::applied::{AppliedEnvironment, AppliedUnit, Attempt, Judge};
use crate::engine::Engine;
use crate::leases::HeldLeases;
use crate::observer::Progress;
use crate::one_unit::{Conduct, SavedPlan, UnitEnd};
use crate::order::Graph;
use crate::plan::{RunPlan, Verdict};
use crate::record::{Begun, Direction, Goal, Intended, OnFailure, Outcome};
use crate::report::Report;
use crate::run_id::RunId;
use crate::run_journal::RunJournal;
use crate::run_state::UnitState;
use crate::runs;
use crate::unit::{Unit, Units};
use crate::walk::{Next, walk};

/// Commits the revert of a run and gives that commit.
pub type RevertFirst<'a> = &'a (dyn Fn(&RunId) -> Result<String, Diagnostic> + Sync);

/// Whether the first commit descends from the second, as far as this clone knows.
pub type Follows<'a> = &'a dyn Fn(&str, &str) -> bool;

/// How a run is carried out.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// The commit that is applied: the one the plan was agreed to as.
    pub commit: &'a str,
    pub on_failure: OnFailure,
    /// Called before a failed run is taken back by [`OnFailure::Undo`].
    pub before_undo: Option<RevertFirst<'a>>,
    /// Refuses a clone that lacks what was applied last; asked once more when nobody can come in between.
    pub judge: Option<Judge<'a>>,
    /// Somebody has looked after what a run of another clone may have left behind.
    pub looked_after: bool,
}

impl<'a> Engine<'a> {
    /// Carries out a plan. `units` are the compiled ones; those that go are taken from the archive.
    ///
    /// `Err` means that nothing was begun. What went wrong later is in the report.
    pub fn apply(
        &self,
        plan: &RunPlan,
        units: &Units,
        options: &RunOptions<'_>,
    ) -> Result<Report, Diagnostics> {
        plan.refuse_other_bytes(units)?;
        let work: BTreeSet<&Name> =
            plan.units.iter().filter(|(_, unit)| unit.is_work()).map(|(name, _)| name).collect();
        let run = self.new_run_id()?;
        let environment =
            AppliedEnvironment { commit: options.commit.to_owned(), run: run.clone(), at: self.now() };
        let judge = options.judge.unwrap_or(&|_| Ok(()));
        if work.is_empty() {
            self.applied().begin(&plan.env, &environment, &[], judge)?;
            return Ok(Report::nothing_to_do());
        }
        let leases = HeldLeases::take(self, &run, &plan.env, work.iter().copied())?;
        runs::refuse_half_done(self.layout, &plan.env, &work)?;
        let applied = self.applied().units(&plan.env)?;
        plan.refuse_applied_since(&applied)?;
        let before = self.applied().environment(&plan.env)?;
        judge(before.as_ref())?;
        let mut bytes: BTreeMap<Name, Unit> = BTreeMap::new();
        for name in work.iter().copied() {
            let unit = match (plan.units[name].goal, units.units.get(name)) {
                (Goal::Present, Some(unit)) => {
                    self.archive().keep(unit)?;
                    unit.clone()
                }
                _ => self.archive().read(&self.id(&plan.env, name), &plan.units[name].digest)?,
            };
            bytes.insert(name.clone(), unit);
        }
        if !options.looked_after {
            self.refuse_left_elsewhere(plan, units)?;
        }
        let begun = Begun {
            run: run.clone(),
            env: plan.env.clone(),
            commit: options.commit.to_owned(),
            before: before.map(|before| before.commit),
            command: self.actor.command.clone(),
            at: self.now(),
            on_failure: options.on_failure,
            units: work
                .iter()
                .map(|name| ((*name).clone(), intended(plan, name, &work, applied.get(*name))))
                .collect(),
        };
        let journal = RunJournal::begin(self, begun.clone())?;
        journal.take(self.actor, Direction::Forward, options.commit)?;
        let attempts: Vec<(Name, AppliedUnit)> = begun
            .units
            .iter()
            .map(|(name, intended)| (name.clone(), attempt(&begun, intended, &bytes[name])))
            .collect();
        if let Err(problem) = self.applied().begin(&plan.env, &environment, &attempts, judge) {
            if problem.code == codes::STALE_CLONE {
                // Another run of other units came first: this one has not begun, and leaves nothing to resume.
                journal.end(Outcome::Superseded)?;
                drop(journal);
                runs::put_away(self.layout, &run);
            }
            return Err(problem.into());
        }
        // Not before: whatever refuses this run must leave the earlier ones to be resumed or undone.
        runs::take_the_place(self.layout, &begun, self.now())?;
        let order: Vec<Name> = plan.order.iter().filter(|name| work.contains(name)).cloned().collect();
        self.observer.on(&Progress::Began { run: &run, units: &order });
        let conduct = Conduct {
            engine: *self,
            journal,
            begun,
            commit: options.commit.to_owned(),
            leases,
            applied: Mutex::new(applied),
            kept: Mutex::new(self.applied().kept(&plan.env)?),
            saved: saved_plans(plan),
            looked_after: false,
            noticed: Mutex::default(),
        };
        Ok(conduct.carry_out(options.before_undo))
    }

    pub(crate) fn new_run_id(&self) -> Result<RunId, Diagnostic> {
        let mut random = [0; 2];
        getrandom::fill(&mut random).map_err(|e| {
            Diagnostic::error(codes::JOURNAL, format!("the system gives no random numbers: {e}"))
        })?;
        let latest = runs::latest(self.layout)?;
        Ok(RunId::after(latest.as_ref(), self.now(), u16::from_be_bytes(random)))
    }
}

impl Conduct<'_> {
    /// Forward through every unit that is not done; then whatever the policy says.
    pub fn carry_out(self, before_undo: Option<RevertFirst<'_>>) -> Report {
        let policy = self.begun.on_failure;
        let left = |name: &Name| self.journal.state(name) != UnitState::Done;
        let edges =
            self.begun.units.iter().filter(|(name, _)| left(name)).map(|(name, unit)| (name, &unit.after));
        let graph = Graph::from_edges(edges);
        let mut problems = Diagnostics::new();
        let mut broken = false;
        let mut judge = |_: &Name, end: &UnitEnd| {
            let (problem, next) = match end {
                UnitEnd::Done => return Next::Go,
                UnitEnd::Failed(problem) | UnitEnd::Stuck(problem) => match policy {
                    OnFailure::ContinueIndependent => (problem, Next::Block),
                    OnFailure::Stop | OnFailure::Undo => (problem, Next::Halt),
                },
                UnitEnd::NotBegun(problem) => (problem, Next::Halt),
                UnitEnd::Unwritten(problem) => {
                    broken = true;
                    (problem, Next::Halt)
                }
            };
            if !problems.0.contains(problem) {
                problems.push(problem.clone());
            }
            next
        };
        walk(&graph, self.engine.parallel, &|name| self.forward(name), &mut judge);
        let verdict = self.journal.run().verdict();
        if policy == OnFailure::Undo && verdict == Outcome::Failed && !broken && !self.engine.is_stopped() {
            let commit =
                before_undo.map_or_else(|| Ok(self.begun.commit.clone()), |revert| revert(&self.begun.run));
            match commit {
                Ok(commit) => return self.go_back(&commit, problems),
                Err(problem) => problems.push(problem),
            }
        }
        self.finish(problems)
    }

    /// Says in the store which units were left in order, for other clones. One that cannot say so looks killed to them:
    /// they create nothing there until somebody has looked.
    fn tell_others(&self) -> Result<(), Diagnostic> {
        let mut left = self.engine.applied().units(&self.begun.env)?;
        let run = self.journal.run();
        let in_order = |name: &Name| {
            run.units.get(name).is_some_and(|unit| {
                matches!(unit.state, UnitState::Planned | UnitState::Failed | UnitState::Stopped)
            })
        };
        left.retain(|name, unit| {
            let ours = unit.attempt.as_mut().filter(|attempt| attempt.run == self.begun.run && !attempt.over);
            let ours = ours.filter(|_| in_order(name));
            ours.map(|attempt| attempt.over = true).is_some()
        });
        let left: Vec<(Name, AppliedUnit)> = left.into_iter().collect();
        if left.is_empty() { Ok(()) } else { self.engine.applied().attempt(&self.begun.env, &left) }
    }

    /// Writes how it ended and lets the leases go.
    pub fn finish(self, mut problems: Diagnostics) -> Report {
        if self.leases.lost().is_none() {
            let _ = self.tell_others();
        }
        let outcome = self.journal.run().verdict();
        if let Err(problem) = self.journal.end(outcome)
            && !problems.0.contains(&problem)
        {
            problems.push(problem);
        }
        let run = self.journal.run();
        let report = Report::of(&run, outcome, problems);
        let (layout, over) = (self.engine.layout, run.is_finished());
        drop(self);
        if over {
            runs::put_away(layout, &run.begun.run);
        }
        report
    }
}

fn intended(plan: &RunPlan, name: &Name, work: &BTreeSet<&Name>, applied: Option<&AppliedUnit>) -> Intended {
    let unit = &plan.units[name];
    Intended {
        goal: unit.goal,
        digest: unit.digest.clone(),
        treatment: unit.treatment.clone(),
        after: waits_for(plan, name, work),
        agreed: unit.agreed(),
        record_only: matches!(unit.verdict, Verdict::Unchanged { .. }),
        before: applied.cloned(),
    }
}

/// Edges to units with work, through those without any.
fn waits_for(plan: &RunPlan, name: &Name, work: &BTreeSet<&Name>) -> BTreeMap<Name, crate::record::Edge> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut left: Vec<(&Name, crate::record::Edge)> =
        plan.units[name].after.iter().map(|(before, edge)| (before, *edge)).collect();
    while let Some((before, edge)) = left.pop() {
        if work.contains(before) {
            let known = found.entry(before.clone()).or_insert(edge);
            *known = (*known).min(edge);
        } else if seen.insert(before) {
            left.extend(
                plan.units.get(before).into_iter().flat_map(|unit| unit.after.iter().map(|(b, e)| (b, *e))),
            );
        }
    }
    found
}

/// What the store says of a unit while a run changes it.
pub(crate) fn attempt(begun: &Begun, intended: &Intended, unit: &Unit) -> AppliedUnit {
    let before = intended.before.as_ref().and_then(|before| before.not_over().next());
    let attempt = Attempt {
        run: begun.run.clone(),
        digest: intended.digest.clone(),
        goal: intended.goal,
        over: false,
        replaces: intended.agreed.replaces(),
        earlier: before.cloned().map(Box::new),
    };
    let manifest = &unit.manifest;
    let mut record = intended.before.clone().unwrap_or_else(|| AppliedUnit {
        digest: None,
        attempt: None,
        kind: manifest.kind.clone(),
        host: manifest.host.as_ref().map(ToString::to_string),
        needs: Vec::new(),
        inputs: BTreeMap::new(),
        sources: BTreeMap::new(),
        outputs: BTreeMap::new(),
        sensitive: Vec::new(),
        seen: BTreeMap::new(),
        commit: begun.commit.clone(),
        run: begun.run.clone(),
        at: begun.at,
    });
    for need in &manifest.needs {
        if !record.needs.contains(need) {
            record.needs.push(need.clone());
        }
    }
    record.attempt = Some(attempt);
    record
}

fn saved_plans(plan: &RunPlan) -> BTreeMap<Name, SavedPlan> {
    let saved = plan.units.iter().filter_map(|(name, unit)| match &unit.verdict {
        Verdict::Changes { tfplan, changes, .. } if !tfplan.is_empty() => Some((
            name.clone(),
            SavedPlan { inputs: unit.inputs.clone(), tfplan: tfplan.clone(), changes: changes.clone() },
        )),
        _ => None,
    });
    saved.collect()
}
