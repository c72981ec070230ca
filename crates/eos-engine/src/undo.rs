//! Taking a run back: every unit it touched to the bytes it had before, or away when it was new.
//!
//! In reverse order, with the inputs each unit had. Data is kept: a new unit's data stays in the world and is listed,
//! and what is protected is never replaced. Done means that the old bytes plan empty; whether they work is looked at and
//! told. What cannot be taken back is stuck, never ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use eos_model::{Diagnostic, Diagnostics, Name, codes};
use serde::Serialize;
use serde_json::Value as Json;

use crate::agreed::without_keys;
use crate::applied::{AppliedEnvironment, AppliedUnit};
use crate::ask_tofu::TofuPlan;
use crate::carried_out::NOT_TO_ITS_END;
use crate::change::changes_of;
use crate::data;
use crate::data_in_care::DataInCare;
use crate::engine::Engine;
use crate::execute::{Follows, RevertFirst};
use crate::let_go;
use crate::observer::Progress;
use crate::one_unit::{Conduct, Journaled, Target, UnitEnd};
use crate::order::Graph;
use crate::outputs;
use crate::record::{Begun, Direction, Edge, Goal, Intended, Outcome, Step};
use crate::report::Report;
use crate::resume::another_began;
use crate::run_id::RunId;
use crate::run_state::{Run, UnitState};
use crate::runs;
use crate::unit::{Digest, Unit};
use crate::walk::{Next, walk};

/// Why what a drift revert did stays so.
const PUT_RIGHT: &str = "put right after it was changed by hand";
const DESTROYED: &str = "its data was destroyed and does not come back";

/// What an undo would do, for the question before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoPlan {
    pub run: RunId,
    /// In the order they are taken back.
    pub units: Vec<UndoneUnit>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoneUnit {
    pub unit: Name,
    pub goal: Goal,
    /// The bytes it goes back to, or is taken away by.
    pub digest: Digest,
    /// Resources with data that stay in the world.
    pub keeps: Vec<String>,
    /// What was done and stays done, with why.
    pub without_inverse: Vec<(String, String)>,
}

#[derive(Clone, Copy)]
pub struct UndoOptions<'a> {
    /// Gives the commit that reverts what the run applied; called when nobody else can be at work on its units.
    pub commit: RevertFirst<'a>,
    pub follows: Follows<'a>,
    pub looked_after: bool,
}

impl Engine<'_> {
    /// What undoing a run would do. Changes nothing; tofu is asked only about data of a unit that was cut off.
    pub fn plan_undo(&self, run: &RunId) -> Result<UndoPlan, Diagnostics> {
        let known = runs::find(self.layout, run)?;
        self.refuse_not_undoable(&known.run)?;
        let mut units = Vec::new();
        for name in backward(&known.run).sorted() {
            let mut unit = self.undone(&known.run, &name)?;
            let left = self.data_left(&known.run, &name, &unit.keeps);
            unit.keeps.retain(|address| left.contains(address));
            units.push(unit);
        }
        Ok(UndoPlan { run: run.clone(), units })
    }

    /// Where a unit goes when its run is taken back, and what stays all the same.
    fn undone(&self, run: &Run, name: &Name) -> Result<UndoneUnit, Diagnostic> {
        let begun = &run.begun;
        let intended = &begun.units[name];
        let id = self.id(&begun.env, name);
        let made = self.archive().read(&id, &intended.digest)?;
        let (goal, digest) = past(intended);
        let declared = match goal {
            Goal::Present => data::declared(&self.archive().read(&id, &digest)?.files),
            Goal::Gone => Vec::new(),
        };
        let keeps: Vec<String> =
            data::data_resources(&made.files).into_keys().filter(|a| !declared.contains(a)).collect();
        // Data that eos kept and took over again is listed as staying; the rest was somebody else's.
        let foreign =
            |(address, _): &(&String, &String)| goal == Goal::Gone && !keeps.contains(&without_keys(address));
        let let_go = intended.treatment.adopt.iter().filter(foreign);
        let let_go = let_go.map(|(address, id)| (address.clone(), let_go::why(&made, address, id)));
        let destroyed = data::data_resources(&made.files).into_keys();
        let destroyed = destroyed.filter(|_| intended.treatment.destroy_data && goal == Goal::Present);
        let destroyed = destroyed.map(|address| (address, DESTROYED.to_owned()));
        let put_right = intended.agreed.addresses().into_iter().filter(|_| only_put_right(begun, name));
        let put_right = put_right.map(|address| (address, PUT_RIGHT.to_owned()));
        let stays = data::without_inverse(&made.files).into_iter();
        // What is kept on purpose need not be excused.
        let stays = stays
            .filter(|(address, _)| intended.goal == Goal::Present && !keeps.contains(address))
            .filter(|(address, why)| match *why {
                data::RUN_AT_CREATION => {
                    intended.agreed.creates().iter().any(|a| without_keys(a) == *address)
                }
                _ => intended.agreed.touches(address),
            })
            .map(|(address, why)| match why {
                data::CARRIED_OUT if !self.was_carried_out(run, name, &address) => (address, NOT_TO_ITS_END),
                _ => (address, why),
            })
            .map(|(address, why)| (address, why.to_owned()))
            .chain(let_go)
            .chain(destroyed)
            .chain(put_right)
            .collect();
        Ok(UndoneUnit { unit: name.clone(), goal, digest, keeps, without_inverse: stays })
    }

    /// Takes a run back. Also one that is done, as long as no later run has touched its units.
    pub fn undo(&self, run: &RunId, options: &UndoOptions<'_>) -> Result<Report, Diagnostics> {
        let known = runs::find(self.layout, run)?;
        self.refuse_not_undoable(&known.run)?;
        runs::bring_back(self.layout, run)?;
        let mut conduct = self.take_up(run, Direction::Undo, options.commit)?;
        conduct.looked_after = options.looked_after;
        Ok(conduct.take_back(options.follows, Diagnostics::new()))
    }

    fn refuse_not_undoable(&self, run: &Run) -> Result<(), Diagnostic> {
        let over = |message: String| {
            Diagnostic::error(codes::NO_SUCH_RUN, message)
                .fix("eos history shows the commits, eos rollback <commit> goes back to one of them")
        };
        let id = &run.begun.run;
        if matches!(run.outcome, Some(Outcome::Undone | Outcome::Superseded)) {
            return Err(over(format!("run {id} is over and cannot be undone")));
        }
        match self.overtaken(run)? {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }
}

impl Conduct<'_> {
    /// Turns a run that failed around, under the leases it holds.
    pub fn go_back(mut self, commit: &str, mut problems: Diagnostics) -> Report {
        commit.clone_into(&mut self.commit);
        match self.journal.take(self.engine.actor, Direction::Undo, commit) {
            // What it says of the environment is the last word, or else another run's is.
            Ok(()) => self.take_back(&|_, _| false, problems),
            Err(problem) => {
                problems.push(problem);
                self.finish(problems)
            }
        }
    }

    /// Says that the environment is at the commit of the undo, unless it is at one already that this does not follow: then
    /// another run, maybe of another clone, has begun since, and what it applied would count for nothing.
    fn mark_commit(&self, follows: Follows<'_>) -> Result<(), Diagnostic> {
        let (applied, env) = (self.engine.applied(), &self.begun.env);
        let last = applied.environment(env)?;
        let is_later =
            |last: &AppliedEnvironment| last.run != self.begun.run && !follows(&self.commit, &last.commit);
        if last.as_ref().is_some_and(is_later) {
            return Ok(());
        }
        let (commit, run) = (self.commit.clone(), self.begun.run.clone());
        let environment = AppliedEnvironment { commit, run, at: self.engine.now() };
        applied.begin(env, &environment, &[], &|now| {
            if now == last.as_ref() { Ok(()) } else { Err(another_began(&self.begun)) }
        })
    }

    /// Back through everything that was touched.
    pub fn take_back(self, follows: Follows<'_>, mut problems: Diagnostics) -> Report {
        if let Err(problem) = self.mark_commit(follows) {
            problems.push(problem);
            return self.finish(problems);
        }
        let run = self.journal.run();
        // Afterwards the log of what was done is gone.
        let mut undone: BTreeMap<Name, UndoneUnit> = run
            .units
            .keys()
            .filter_map(|name| Some((name.clone(), self.engine.undone(&run, name).ok()?)))
            .collect();
        let mut graph = backward(&run);
        let touched: BTreeSet<Name> = graph.after.keys().cloned().collect();
        graph.after.retain(|name, _| self.journal.state(name) != UnitState::Undone);
        let failed = Mutex::new(Vec::new());
        let mut judge = |_: &Name, end: &UnitEnd| match end {
            UnitEnd::Done => Next::Go,
            UnitEnd::Failed(problem) | UnitEnd::Stuck(problem) => {
                failed.lock().unwrap_or_else(|e| e.into_inner()).push(problem.clone());
                // What it needs stays; what it does not need can still be taken back.
                Next::Block
            }
            UnitEnd::NotBegun(problem) | UnitEnd::Unwritten(problem) => {
                failed.lock().unwrap_or_else(|e| e.into_inner()).push(problem.clone());
                Next::Halt
            }
        };
        let result = walk(&graph, self.engine.parallel, &|name| self.backward(name, None), &mut judge);
        if result.values().all(|end| matches!(end, UnitEnd::Done)) {
            self.catch_up(&mut judge);
            self.clear_attempts(&mut problems);
        }
        problems.0.extend(failed.into_inner().unwrap_or_else(|e| e.into_inner()));
        problems.0.append(&mut self.noticed.lock().unwrap_or_else(|e| e.into_inner()).0);
        let run = self.journal.run();
        let taken_back = run.units.iter().filter(|(_, unit)| unit.state == UnitState::Undone);
        let stays = taken_back.filter_map(|(name, _)| {
            let mut unit = undone.remove(name)?;
            // What left tofu's care is written down; the rest was never made.
            let is_kept = |address: &String| self.kept().get(name).is_some_and(|kept| kept.has(address));
            unit.keeps.retain(is_kept);
            // What was only brought up to the others' values did nothing in this run.
            if !touched.contains(name) {
                unit.without_inverse.clear();
            }
            Some(unit)
        });
        let stays = stays.collect();
        Report { stays, ..self.finish(problems) }
    }

    /// Units whose inputs came back with other values than they had are brought up to them, needs first. Also units that
    /// the run had not begun: what they were applied with may be gone.
    fn catch_up(&self, judge: &mut dyn FnMut(&Name, &UnitEnd) -> Next) {
        // By what they needed before the run: the run's own order is the other way round where it took units away.
        let needs = |unit: &Intended| -> BTreeMap<Name, Edge> {
            let before = unit.before.iter().flat_map(|before| &before.needs);
            let here = before.filter(|need| self.begun.units.contains_key(*need));
            here.map(|need| (need.clone(), Edge::Needs)).collect()
        };
        let edges: BTreeMap<Name, BTreeMap<Name, Edge>> =
            self.begun.units.iter().map(|(name, unit)| (name.clone(), needs(unit))).collect();
        for name in Graph::from_edges(edges.iter()).sorted() {
            let begun = self.journal.state(&name) != UnitState::Planned;
            let now = match begun {
                true => self.applied().get(&name).cloned(),
                false => self.begun.units[&name].before.clone(),
            };
            let Some(now) = now.filter(|now| now.digest.is_some()) else { continue };
            let inputs = outputs::inputs(&name, &now.sources, &self.applied());
            // An input that is gone has no newer value.
            if let Ok(inputs) = inputs
                && inputs != now.inputs
            {
                let end = self.backward(&name, Some(inputs));
                judge(&name, &end);
            }
        }
    }

    /// Units that were never begun are as they were; the store says so again.
    fn clear_attempts(&self, problems: &mut Diagnostics) {
        let run = self.journal.run();
        let planned = run.units.iter().filter(|(_, unit)| unit.state == UnitState::Planned);
        for name in planned.map(|(name, _)| name) {
            let before = self.begun.units[name].before.as_ref();
            if let Err(problem) = self.engine.applied().put_back(&self.id(name), before) {
                problems.push(problem);
            }
        }
    }

    fn backward(&self, name: &Name, inputs: Option<BTreeMap<String, Json>>) -> UnitEnd {
        match self.try_backward(name, inputs) {
            Ok(()) => {
                self.engine.observer.on(&Progress::Undone { unit: name });
                UnitEnd::Done
            }
            Err(end) => end,
        }
    }

    fn try_backward(&self, name: &Name, inputs: Option<BTreeMap<String, Json>>) -> Journaled<()> {
        if let Some(reason) = self.halted(name) {
            return Err(UnitEnd::NotBegun(reason));
        }
        let intended = &self.begun.units[name];
        let (goal, digest) = past(intended);
        self.wait_for_child(name)?;
        let began = self.journal.state(name);
        let made = self.bytes(name, &intended.digest).map_err(UnitEnd::Failed)?;
        let unit: Arc<Unit> = if digest == intended.digest {
            Arc::clone(&made)
        } else {
            self.bytes(name, &digest).map_err(UnitEnd::Failed)?
        };
        let old = intended.before.as_ref().map(|before| before.inputs.clone()).unwrap_or_default();
        let inputs = inputs.unwrap_or(old);
        let in_care = DataInCare::of(&unit).and(&made);
        let kept = self.kept().get(name).cloned();
        let mut treatment =
            self.engine.treat(&unit, goal, &in_care, kept.as_ref(), false).map_err(UnitEnd::Failed)?;
        if goal == Goal::Gone {
            // What was there before the run is not the run's to destroy.
            treatment.keep.extend(intended.treatment.adopt.keys().map(|address| without_keys(address)));
        }
        let target = Target { unit: &unit, goal, treatment: &treatment, inputs: &inputs };
        self.step(name, Step::Undoing)?;
        self.engine.observer.on(&Progress::Undoing { unit: name });
        let half_done = !matches!(began, UnitState::Planned | UnitState::Done | UnitState::Undone);
        if half_done {
            self.reclaim(name, &made)?;
        }
        let desk = self.desk(name, &target)?;
        if half_done {
            self.recover(name, &desk.session)?;
        }
        let mut made_outputs = None;
        if let Some(TofuPlan { plan, .. }) = self.plan_now(name, &desk.session)? {
            let changes = changes_of(name, &unit.manifest, &in_care.resources, &plan);
            if let Err(lost) = in_care.refuse_loss(name, &changes) {
                return Err(self.stick(name, lost.0.into_iter().map(|problem| problem.message).collect()));
            }
            made_outputs = Some(self.apply(name, &desk, &target, &changes)?);
            // Done means that the old bytes plan empty; outputs alone may lag by one apply.
            if let Some(TofuPlan { plan, .. }) = self.plan_now(name, &desk.session)? {
                let left = changes_of(name, &unit.manifest, &in_care.resources, &plan);
                if !left.is_empty() {
                    let list: Vec<&str> = left.iter().map(|change| change.address.as_str()).collect();
                    return Err(
                        self.stick(name, vec![format!("its old bytes still change {}", list.join(", "))])
                    );
                }
            }
        }
        let made_outputs = match (made_outputs, goal) {
            (Some(made), _) => made,
            (None, Goal::Gone) => Default::default(),
            (None, Goal::Present) => {
                desk.session.outputs().map_err(|e| self.fail(name, crate::problems::cannot_plan(name, &e)))?
            }
        };
        let made_outputs = outputs::split(&made_outputs);
        let seen = self.look_back(&target);
        if let Some(lost) = self.leases.lost() {
            return Err(UnitEnd::NotBegun(lost));
        }
        self.settle(name, &target, made_outputs, seen).map_err(|e| UnitEnd::Failed(self.judged(e)))?;
        self.step(name, Step::Undone)
    }
}

/// Where a unit was before the run: its bytes, or nowhere, for which its new bytes are needed.
pub(crate) fn past(intended: &Intended) -> (Goal, Digest) {
    match intended.before.as_ref().and_then(|before: &AppliedUnit| before.digest.clone()) {
        Some(digest) => (Goal::Present, digest),
        None => (Goal::Gone, intended.digest.clone()),
    }
}

/// Whether a run brought a unit back to the bytes it had, and nothing it takes from others was changed either: what it did
/// was to put right what somebody had changed by hand, of which nobody has written down what it was.
fn only_put_right(begun: &Begun, name: &Name) -> bool {
    let Some(intended) = begun.units.get(name) else { return true };
    let Some(before) = intended.before.as_ref().filter(|before| before.attempt.is_none()) else {
        return false;
    };
    intended.goal == Goal::Present
        && before.digest.as_ref() == Some(&intended.digest)
        && intended.after.keys().all(|need| only_put_right(begun, need))
}

/// Units that were touched, what needs them first.
fn backward(run: &Run) -> Graph {
    let edges = run.begun.units.iter().map(|(name, unit)| (name, &unit.after));
    let mut graph = Graph::from_edges(edges).reversed();
    graph.after.retain(|name, _| run.units.get(name).is_some_and(|unit| unit.state != UnitState::Planned));
    graph
}
