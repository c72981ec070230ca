//! After a crash: what a killed eos or tofu may have left in the middle of a unit.

use eos_model::{Diagnostic, Name, codes};
use eos_tofu::{Session, State, TofuError, UnsavedState};

use crate::account::account_name;
use crate::guard;
use crate::observer::Progress;
use crate::one_unit::{Conduct, Journaled, UnitEnd};
use crate::planner::is_own;
use crate::problems::cannot_plan;
use crate::record::Step;
use crate::undo::past;
use crate::unit::Unit;
use crate::unrecorded::Left;

/// The journal's time is in whole seconds, and the lock's is not.
const ROUNDED: i64 = 1;

impl Conduct<'_> {
    /// Waits for a tofu that outlived the eos that started it.
    pub fn wait_for_child(&self, name: &Name) -> Journaled<()> {
        let Some(child) = self.journal.unit(name).and_then(|unit| unit.child) else { return Ok(()) };
        if child.still_running() {
            self.engine.observer.on(&Progress::WaitingForChild { unit: name, pid: child.pid });
        }
        if child.wait_until_gone(&mut || !self.engine.is_stopped()) {
            return Ok(());
        }
        Err(UnitEnd::NotBegun(
            Diagnostic::error(
                codes::STOPPED,
                format!("stopped while tofu (pid {}) still applies {name}", child.pid),
            )
            .fix("eos resume waits for it and goes on"),
        ))
    }

    /// Brings a unit that was left in the middle into an order in which it can be planned again.
    pub fn recover(&self, name: &Name, session: &Session) -> Journaled<()> {
        let intended = &self.begun.units[name];
        // Judged by the bytes that the tofu which was cut off had: on the way back those of before the run.
        let back = self.journal.unit(name).is_some_and(|unit| unit.child_undoes);
        let digest = if back { past(intended).1 } else { intended.digest.clone() };
        let unit = self.bytes(name, &digest).map_err(UnitEnd::Failed)?;
        let mut left = self.left(name, session, &unit).map_err(UnitEnd::Failed)?;
        // The state that tofu could not write comes first: everything else is judged by it.
        if let Left::StateToPush = left {
            left = self.push_unsaved_state(name, session, &unit)?;
        }
        self.end_remnants(name, session).map_err(UnitEnd::Failed)?;
        if let Left::MayExist(listed) = left
            && !self.looked_after
        {
            return Err(self.stick(name, listed));
        }
        // One that is left is none that a backend takes.
        session.folder.put_unsaved_state_aside().map_err(|e| UnitEnd::Failed(cannot_plan(name, &e)))?;
        let state = self.unlocking(name, session, || session.state())?;
        for address in own_half_made(&state) {
            // It is adopted as it is: its next apply finishes it in place instead of replacing it.
            self.unlocking(name, session, || session.untaint(&address))?;
        }
        Ok(())
    }

    /// Where its backend refuses it, a person has to look, and it is put aside only once they were told where it is.
    fn push_unsaved_state(&self, name: &Name, session: &Session, unit: &Unit) -> Journaled<Left> {
        let push = || match session.push_unsaved_state() {
            Err(TofuError::StateRefused { reason }) => Ok(Some(reason)),
            other => other.map(|_| None),
        };
        let Some(refusal) = self.unlocking(name, session, push)? else { return Ok(Left::InOrder) };
        let mut listed = self.may_exist(name, session, unit).map_err(UnitEnd::Failed)?;
        let Some(UnsavedState { file, .. }) = session.folder.unsaved_state() else {
            return Ok(Left::InOrder);
        };
        let file = guard::shown(self.engine.layout, &file);
        let told = self
            .journal
            .unit(name)
            .is_some_and(|unit| unit.last_failure.iter().any(|reason| reason.contains(file.as_str())));
        listed.insert(0, format!("the backend refuses the state that tofu left in {file}: {refusal}"));
        if told { Ok(Left::MayExist(listed)) } else { Err(self.stick(name, listed)) }
    }

    /// Providers do not notice that their tofu was killed, and must not go on beside the next one. What a tofu that came
    /// to its end left running is meant to run.
    fn end_remnants(&self, name: &Name, session: &Session) -> Result<(), Diagnostic> {
        let Some(child) = self.journal.unit(name).and_then(|unit| unit.child) else { return Ok(()) };
        if !self.past_apply(name, session)?.is_some_and(|past| past.came_to_its_end()) {
            child.end_remnants();
        }
        Ok(())
    }

    /// Does something that needs the state's lock; takes a lock away that a process of this run left behind.
    pub fn unlocking<T>(
        &self,
        name: &Name,
        session: &Session,
        act: impl Fn() -> Result<T, TofuError>,
    ) -> Journaled<T> {
        let failed = |error: TofuError| UnitEnd::Failed(cannot_plan(name, &error));
        match act() {
            Err(TofuError::StateLocked { lock, .. }) if self.left_lock(name, session, &lock) => {
                self.step(name, Step::LockLeft { lock: lock.id.clone() })?;
                session.force_unlock(&lock.id).map_err(failed)?;
                act().map_err(failed)
            }
            other => other.map_err(failed),
        }
    }

    /// Whether the lock is that of a dead tofu of this run: made by the same account on the same machine, after our journal
    /// says that tofu began and before its own log says that it was at work, which it is only with the lock in hand.
    /// What is not certain is not taken away: the person is told how.
    fn left_lock(&self, name: &Name, session: &Session, lock: &eos_tofu::StateLock) -> bool {
        let run = self.journal.run();
        let Some(unit) = run.units.get(name) else { return false };
        if unit.locks.contains(&lock.id) {
            return true;
        }
        let Some(child) = unit.child.filter(|child| !child.still_running()) else { return false };
        let past = session.past_apply(child).ok().flatten();
        let at_work = past.and_then(|past| moment(&past.at_work_since?));
        let (Some(created), Some(at_work)) = (moment(&lock.created), at_work) else { return false };
        let actor = self.engine.actor;
        let account = account_name().unwrap_or_else(|| actor.user.clone());
        lock.who == format!("{account}@{}", actor.machine)
            && created.as_second() >= unit.child_at - ROUNDED
            && created <= at_work
    }
}

/// When a lock was made, as tofu prints it: `2026-11-16 08:35:53.400888056 +0000 UTC`, or as a backend stores it.
fn moment(text: &str) -> Option<jiff::Timestamp> {
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(date), Some(time), Some("+0000")) => format!("{date}T{time}Z").parse().ok(),
        _ => text.parse().ok(),
    }
}

/// eos's own resources that tofu would replace because they were left half-made.
pub(crate) fn own_half_made(state: &State) -> Vec<String> {
    let own = state.resources.iter().filter(|resource| is_own(&resource.provider));
    let half_made = own.flat_map(|resource| &resource.instances).filter(|instance| instance.tainted);
    half_made.map(|instance| instance.address.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn the_time_of_a_lock_is_read_in_both_forms() {
        let seconds = |text| moment(text).map(|moment| moment.as_second());
        assert_eq!(seconds("2026-11-16 04:30:00.400888056 +0000 UTC"), Some(1_794_803_400));
        assert_eq!(seconds("2026-11-16T04:30:00.4Z"), Some(1_794_803_400));
        assert_eq!(seconds("a while ago"), None);
        assert_eq!(seconds("2026-11-16 04:30:00 +0100 CET"), None);
    }
}
