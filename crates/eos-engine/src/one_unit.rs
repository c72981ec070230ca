//! One unit of a run, from its folder to its record.
//!
//! The order is the promise: the journal says that tofu may begin, then tofu begins; tofu is done, then the journal says
//! so; the unit is looked at; it is recorded; the journal says that it is done. Whoever is killed in between leaves a
//! journal from which the rest can be done once, and only once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eos_model::{Diagnostic, Diagnostics, Name, UnitId, codes};
use eos_tofu::{Outputs, Refresh, Session, TofuError};
use serde_json::Value as Json;

use crate::agreed::ChangeKind;
use crate::applied::{AppliedUnit, Kept};
use crate::ask_tofu::TofuPlan;
use crate::change::{Change, changes_of};
use crate::data;
use crate::engine::{Desk, Engine};
use crate::leases::HeldLeases;
use crate::left_elsewhere::Brought;
use crate::observer::Progress;
use crate::outputs;
use crate::problems::{self, cannot_apply};
use crate::record::{Begun, Goal, Step};
use crate::run_journal::RunJournal;
use crate::run_state::{UnitRun, UnitState};
use crate::treatment::Treatment;
use crate::unit::{Digest, Unit};
use crate::unrecorded::Left;

/// A run that is being carried out.
pub(crate) struct Conduct<'a> {
    pub engine: Engine<'a>,
    pub journal: RunJournal<'a>,
    pub begun: Begun,
    /// The commit that is recorded with what is applied.
    pub commit: String,
    pub leases: HeldLeases,
    /// What is applied in the environment, kept up to date.
    pub applied: Mutex<BTreeMap<Name, AppliedUnit>>,
    pub kept: Mutex<BTreeMap<Name, Kept>>,
    /// Plans that were agreed to, as long as nothing has made them stale.
    pub saved: BTreeMap<Name, SavedPlan>,
    /// A person has looked after what a killed tofu may have left behind.
    pub looked_after: bool,
    /// What is to be told at the end and stops nothing.
    pub noticed: Mutex<Diagnostics>,
}

pub(crate) struct SavedPlan {
    pub inputs: BTreeMap<String, Json>,
    pub tfplan: Vec<u8>,
    pub changes: Vec<Change>,
}

/// What became of a unit.
#[derive(Debug)]
pub(crate) enum UnitEnd {
    Done,
    Failed(Diagnostic),
    Stuck(Diagnostic),
    /// Nothing was done: the run stops, or must ask again.
    NotBegun(Diagnostic),
    /// The journal cannot be written: nothing more may be begun.
    Unwritten(Diagnostic),
}

/// How far a unit got; what cannot be journaled ends the run.
pub(crate) type Journaled<T> = Result<T, UnitEnd>;

/// Where a unit is brought, and how.
pub(crate) struct Target<'t> {
    pub unit: &'t Unit,
    pub goal: Goal,
    pub treatment: &'t Treatment,
    pub inputs: &'t BTreeMap<String, Json>,
}

impl Conduct<'_> {
    pub fn id(&self, name: &Name) -> UnitId {
        self.engine.id(&self.begun.env, name)
    }

    pub fn step(&self, name: &Name, step: Step) -> Journaled<()> {
        self.journal.step(name, step).map_err(UnitEnd::Unwritten)
    }

    /// Why nothing more may be begun.
    pub fn halted(&self, name: &Name) -> Option<Diagnostic> {
        if let Some(lost) = self.leases.lost() {
            return Some(lost);
        }
        self.engine.is_stopped().then(|| {
            Diagnostic::error(codes::STOPPED, format!("stopped before {name}"))
                .fix("eos resume goes on, eos undo takes it back")
        })
    }

    /// A record that others have changed says less than the lease that ran out before.
    pub fn judged(&self, problem: Diagnostic) -> Diagnostic {
        if problem.code == codes::STORE { self.leases.lost().unwrap_or(problem) } else { problem }
    }

    pub fn bytes(&self, name: &Name, digest: &Digest) -> Result<Arc<Unit>, Diagnostic> {
        self.engine.archive().read(&self.id(name), digest).map(Arc::new)
    }

    pub fn applied(&self) -> MutexGuard<'_, BTreeMap<Name, AppliedUnit>> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn kept(&self) -> MutexGuard<'_, BTreeMap<Name, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings one unit to where the run wants it.
    pub fn forward(&self, name: &Name) -> UnitEnd {
        match self.try_forward(name) {
            Ok(()) => {
                self.engine.observer.on(&Progress::Done { unit: name });
                UnitEnd::Done
            }
            Err(end) => end,
        }
    }

    fn try_forward(&self, name: &Name) -> Journaled<()> {
        if let Some(reason) = self.halted(name) {
            return Err(UnitEnd::NotBegun(reason));
        }
        let intended = &self.begun.units[name];
        let unit = self.bytes(name, &intended.digest).map_err(|e| self.fail(name, e))?;
        let inputs = match intended.goal {
            Goal::Present => outputs::inputs(name, &unit.manifest.inputs, &self.applied()),
            Goal::Gone => {
                Ok(intended.before.as_ref().map(|before| before.inputs.clone()).unwrap_or_default())
            }
        };
        let inputs = inputs.map_err(|e| self.fail(name, e))?;
        let target =
            Target { unit: &unit, goal: intended.goal, treatment: &intended.treatment, inputs: &inputs };
        let state = self.journal.state(name);
        self.wait_for_child(name)?;
        // Changes of the state: a plan that was made before does not know of them.
        let takes_back = state != UnitState::Verifying && self.take_back_left(name, &target)?;
        let before = intended.before.as_ref().filter(|before| before.digest.is_some());
        if intended.record_only
            && !takes_back
            && state == UnitState::Planned
            && (before.is_some() || target.goal == Goal::Gone)
        {
            let outputs =
                before.map(|before| (before.outputs.clone(), before.sensitive.clone())).unwrap_or_default();
            let seen = before.map(|before| before.seen.clone()).unwrap_or_default();
            self.settle(name, &target, outputs, seen).map_err(|e| self.fail(name, e))?;
            return self.step(name, Step::Done);
        }
        if let Some(saved) = self.saved.get(name)
            && state == UnitState::Planned
            && !takes_back
            && saved.inputs == inputs
        {
            let desk = self.desk(name, &target)?;
            let file = desk.session.folder.plan_file();
            fs_err::write(&file, &saved.tfplan).map_err(|e| {
                self.fail(
                    name,
                    Diagnostic::error(codes::CANNOT_WRITE, format!("cannot write the plan of {name}: {e}")),
                )
            })?;
            let made = self.apply(name, &desk, &target, &saved.changes)?;
            return self.look_and_settle(name, &target, made);
        }
        let desk = self.desk(name, &target)?;
        if state != UnitState::Planned {
            self.recover(name, &desk.session)?;
        }
        let Some(TofuPlan { plan, .. }) = self.plan_now(name, &desk.session)? else {
            if state != UnitState::Verifying {
                self.step(name, Step::Applying)?;
                self.step(name, Step::Verifying)?;
            }
            let made =
                desk.session.outputs().map_err(|e| self.fail(name, problems::cannot_plan(name, &e)))?;
            return self.look_and_settle(name, &target, made);
        };
        let beyond = intended.agreed.exceeded_by(&plan);
        if !beyond.is_empty() {
            let problem = not_agreed(name, &beyond);
            // A unit that was not begun stays so; one that was half-done has been looked at and is in order.
            return Err(match state {
                UnitState::Planned => UnitEnd::NotBegun(problem),
                _ => self.fail(name, problem),
            });
        }
        let changes = changes_of(name, &unit.manifest, &data::data_resources(&unit.files), &plan);
        let made = self.apply(name, &desk, &target, &changes)?;
        self.look_and_settle(name, &target, made)
    }

    /// Takes into its state what a run of another clone left of a unit; whether there may be anything.
    fn take_back_left(&self, name: &Name, target: &Target<'_>) -> Journaled<bool> {
        let applied = self.applied().clone();
        let brought =
            Brought { unit: target.unit, goal: target.goal, treatment: target.treatment, applied: &applied };
        let before = self.begun.units[name].before.as_ref();
        let mut left = self.engine.left_elsewhere(brought, before).map_err(|e| self.fail(name, e))?;
        left.retain(|left| !left.ours.is_empty());
        if left.is_empty() {
            return Ok(false);
        }
        self.step(name, Step::Applying)?;
        self.engine.observer.on(&Progress::Applying { unit: name, goal: target.goal });
        for left in &left {
            self.reclaim_left(name, left)?;
        }
        Ok(true)
    }

    pub fn desk(&self, name: &Name, target: &Target<'_>) -> Journaled<Desk> {
        self.engine
            .desk(target.unit, target.goal, target.treatment, target.inputs)
            .map_err(|e| self.fail(name, e))
    }

    /// A plan with what is known now; what cannot be planned fails.
    pub fn plan_now(&self, name: &Name, session: &Session) -> Journaled<Option<TofuPlan>> {
        match self.unlocking(name, session, || self.engine.tofu_plan(name, session, Refresh::Yes, None)) {
            Err(UnitEnd::Failed(problem)) => Err(self.fail(name, problem)),
            other => other,
        }
    }

    /// Applies the plan that lies in the desk. The journal says so first; that a unit is undone it has said already.
    pub fn apply(
        &self,
        name: &Name,
        desk: &Desk,
        target: &Target<'_>,
        changes: &[Change],
    ) -> Journaled<Outputs> {
        if let Some(reason) = self.halted(name) {
            return Err(UnitEnd::NotBegun(reason));
        }
        self.remember_kept(name, changes).map_err(|e| self.fail(name, e))?;
        let undoing = self.journal.state(name) == UnitState::Undoing;
        if !undoing {
            self.step(name, Step::Applying)?;
            self.engine.observer.on(&Progress::Applying { unit: name, goal: target.goal });
        }
        let file = desk.session.folder.plan_file();
        let mut unwritten = None;
        let mut announce = |child| {
            self.journal.step(name, Step::Child { child }).map_err(|problem| {
                unwritten = Some(problem);
                std::io::Error::other("the journal cannot be written")
            })
        };
        let mut tell = |event| self.engine.observer.on(&Progress::Tofu { unit: name, event: &event });
        let started = desk.session.start_apply(&file, &mut announce);
        let ended = started.and_then(|applying| applying.wait(&mut tell));
        if let Some(problem) = unwritten {
            return Err(UnitEnd::Unwritten(problem));
        }
        match ended {
            Ok(applied) => {
                if !undoing {
                    self.step(name, Step::Verifying)?;
                }
                Ok(applied.outputs)
            }
            Err(error) => Err(self.apply_failed(name, &desk.session, target, &error)),
        }
    }

    fn apply_failed(
        &self,
        name: &Name,
        session: &Session,
        target: &Target<'_>,
        error: &TofuError,
    ) -> UnitEnd {
        let left = self.left(name, session, target.unit);
        let mut listed = match left {
            Ok(Left::InOrder) => Vec::new(),
            Ok(Left::MayExist(listed)) => listed,
            Ok(Left::StateToPush) => {
                let reason =
                    "its state could not be written to the backend; eos resume does it once that answers";
                return self.stick(name, vec![reason.to_owned()]);
            }
            Err(unknown) => self.unknown(name, session, target.unit, &unknown),
        };
        if !listed.is_empty() {
            if let TofuError::StateNotSaved { failure, .. } = error {
                listed.splice(
                    0..0,
                    failure.diagnostics.iter().find(|said| said.is_error()).map(ToString::to_string),
                );
            }
            return self.stick(name, listed);
        }
        match (error, problems::needs_a_person(error)) {
            (TofuError::Interrupted { .. }, _) => {
                let reason = self.leases.lost();
                self.fail(name, reason.unwrap_or_else(|| cannot_apply(name, error)))
            }
            (_, Some(reason)) => self.stick(name, vec![reason]),
            (_, None) => self.fail(name, cannot_apply(name, error)),
        }
    }

    /// Journals a failure. A unit that is stuck stays stuck.
    pub fn fail(&self, name: &Name, problem: Diagnostic) -> UnitEnd {
        let problem = self.judged(problem);
        let state = self.journal.state(name);
        if state != UnitState::Stuck {
            let step = Step::Failed { code: problem.code.to_string(), message: problem.message.clone() };
            if let Err(unwritten) = self.journal.step(name, step) {
                return UnitEnd::Unwritten(unwritten);
            }
        }
        self.engine.observer.on(&Progress::Failed { unit: name, problem: &problem });
        UnitEnd::Failed(problem)
    }

    pub fn stick(&self, name: &Name, reasons: Vec<String>) -> UnitEnd {
        let problem = Diagnostic::error(codes::STUCK, format!("{name} is stuck: {}", reasons.join("; ")))
            .why("going on could do something twice or lose something")
            .fix("look after what is listed, then eos resume --looked-after");
        self.engine.observer.on(&Progress::Stuck { unit: name, reasons: &reasons });
        let is_said = |unit: UnitRun| unit.state == UnitState::Stuck && unit.reasons == reasons;
        if self.journal.unit(name).is_some_and(is_said) {
            return UnitEnd::Stuck(problem);
        }
        match self.journal.step(name, Step::Stuck { reasons }) {
            Ok(()) => UnitEnd::Stuck(problem),
            Err(unwritten) => UnitEnd::Unwritten(unwritten),
        }
    }
}

fn not_agreed(name: &Name, beyond: &[(String, ChangeKind)]) -> Diagnostic {
    let list: Vec<String> =
        beyond.iter().map(|(address, kind)| format!("{} {address}", kind.as_str())).collect();
    Diagnostic::error(
        codes::NOT_AGREED,
        format!("{name} would {}, which the plan did not show", list.join(", ")),
    )
    .why("the run does what was agreed to and stops before it does more")
    .fix("eos plan shows what there is to do now; eos apply asks again")
}
