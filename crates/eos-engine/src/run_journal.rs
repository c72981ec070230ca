//! A run's journal together with the run it tells of, shared by the threads that carry the run out.
//!
//! A step that could not have happened is refused before it is written, so the file never says it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use eos_model::{Diagnostic, Name};

use crate::engine::{Actor, Engine};
use crate::journal::Journal;
use crate::observer::{Observer, Progress};
use crate::problems;
use crate::record::{Begun, Direction, Outcome, Record, Step, Taken};
use crate::run_id::RunId;
use crate::run_state::{Run, UnitRun, UnitState};

pub(crate) struct RunJournal<'a> {
    inner: Mutex<(Journal, Run)>,
    observer: &'a dyn Observer,
    clock: &'a (dyn Fn() -> i64 + Sync),
}

impl<'a> RunJournal<'a> {
    /// Begins the journal of a new run.
    pub fn begin(engine: &Engine<'a>, begun: Begun) -> Result<RunJournal<'a>, Diagnostic> {
        let path = engine.layout.journal(&begun.run);
        let mut journal = Journal::create(&path).map_err(|e| problems::journal(&e))?;
        let record = Record::Begun(Box::new(begun.clone()));
        let number = journal.append(&record).map_err(|e| problems::journal(&e))?;
        engine.observer.on(&Progress::Journaled { number, record: &record });
        let inner = Mutex::new((journal, Run::new(begun)));
        Ok(RunJournal { inner, observer: engine.observer, clock: engine.clock })
    }

    /// Opens the journal of a run that was left.
    pub fn open(engine: &Engine<'a>, run: &RunId) -> Result<RunJournal<'a>, Diagnostic> {
        let (journal, records) =
            Journal::open::<Record>(&engine.layout.journal(run)).map_err(|e| problems::journal(&e))?;
        let folded = Run::fold(&records).map_err(|e| problems::impossible(run, &e))?;
        let folded = folded.ok_or_else(|| crate::runs::no_such(engine.layout, run))?;
        let inner = Mutex::new((journal, folded));
        Ok(RunJournal { inner, observer: engine.observer, clock: engine.clock })
    }

    pub fn take(&self, actor: &Actor, direction: Direction, commit: &str) -> Result<(), Diagnostic> {
        self.write(Record::Taken(Taken {
            at: (self.clock)(),
            direction,
            user: actor.user.clone(),
            machine: actor.machine.clone(),
            process: std::process::id(),
            commit: commit.to_owned(),
        }))
    }

    pub fn step(&self, unit: &Name, step: Step) -> Result<(), Diagnostic> {
        self.write(Record::Unit { unit: unit.clone(), at: (self.clock)(), step })
    }

    /// Writes how the run ended for now.
    pub fn end(&self, outcome: Outcome) -> Result<(), Diagnostic> {
        self.write(Record::Ended { at: (self.clock)(), outcome })
    }

    pub fn run(&self) -> Run {
        self.lock().1.clone()
    }

    pub fn state(&self, unit: &Name) -> UnitState {
        self.lock().1.units.get(unit).map_or(UnitState::Planned, |unit| unit.state)
    }

    pub fn unit(&self, unit: &Name) -> Option<UnitRun> {
        self.lock().1.units.get(unit).cloned()
    }

    fn write(&self, record: Record) -> Result<(), Diagnostic> {
        let mut inner = self.lock();
        let (journal, run) = &mut *inner;
        let mut next = run.clone();
        next.take(&record).map_err(|e| problems::impossible(&run.begun.run, &e))?;
        let number = journal.append(&record).map_err(|e| problems::journal(&e))?;
        *run = next;
        drop(inner);
        self.observer.on(&Progress::Journaled { number, record: &record });
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, (Journal, Run)> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
