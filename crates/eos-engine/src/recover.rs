//! After a crash: what a killed eos or tofu may have left in the middle of a unit.

use std::collections::BTreeMap;

use eos_model::{Diagnostic, Name, codes};
use eos_tofu::{Action, Children, Event, PastApply, Session, State, StateInstance, TofuError};

use crate::account::account_name;
use crate::agreed::without_keys;
use crate::observer::Progress;
use crate::one_unit::{Conduct, Journaled, UnitEnd};
use crate::planner::is_own;
use crate::problems::cannot_plan;
use crate::record::Step;
use crate::undo::past;
use crate::unit::Unit;

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
        // The state that tofu could not write comes first: everything else is judged by it.
        self.unlocking(name, session, || session.push_unsaved_state())?;
        self.end_remnants(name, session).map_err(UnitEnd::Failed)?;
        if !self.looked_after {
            let orphans = self.possible_orphans(name, session, &unit).map_err(UnitEnd::Failed)?;
            if !orphans.is_empty() {
                return Err(self.stick(name, orphans));
            }
        }
        let state = self.unlocking(name, session, || session.state())?;
        for address in own_half_made(&state) {
            // It is adopted as it is: its next apply finishes it in place instead of replacing it.
            self.unlocking(name, session, || session.untaint(&address))?;
        }
        Ok(())
    }

    /// Providers do not notice that their tofu was killed, and must not go on beside the next one. What a tofu that came
    /// to its end left running is meant to run.
    fn end_remnants(&self, name: &Name, session: &Session) -> Result<(), Diagnostic> {
        let Some(child) = self.journal.unit(name).and_then(|unit| unit.child) else { return Ok(()) };
        let past = session.past_apply(child).map_err(|e| cannot_plan(name, &e))?;
        if !past.is_some_and(|past| came_to_its_end(&past)) {
            child.end_remnants();
        }
        Ok(())
    }

    /// Objects that a killed tofu created or was creating and that its state does not know: tofu writes its state at the
    /// end and every now and then, not with each object.
    pub fn possible_orphans(
        &self,
        name: &Name,
        session: &Session,
        unit: &Unit,
    ) -> Result<Vec<String>, Diagnostic> {
        let mut begun = self.creates_begun(name, session)?;
        if begun.is_empty() {
            return Ok(Vec::new());
        }
        // Reading is allowed to a run that was told to stop.
        let reading = Session { children: Children::new(), ..session.clone() };
        let state = reading.state().map_err(|error| cannot_plan(name, &error))?;
        // Only an object with the very id is the one that was made: under the same address there may be the one it was
        // to replace.
        begun.retain(|address, id| {
            let recorded = |instance: &StateInstance| instance.address == *address && instance.id == *id;
            id.is_none() || !state.instances().any(recorded)
        });
        begun.retain(|address, _| !is_harmless(unit, address));
        let tell = |(address, id): (String, Option<String>)| match id {
            Some(id) => {
                format!("{address} was created (id {id}) and is not in tofu's state, because tofu was killed")
            }
            None => format!("{address} was being created when tofu was killed and may exist unrecorded"),
        };
        Ok(begun.into_iter().map(tell).collect())
    }

    /// What a tofu that did not come to its end had begun to create, with its id once it was there.
    pub fn creates_begun(
        &self,
        name: &Name,
        session: &Session,
    ) -> Result<BTreeMap<String, Option<String>>, Diagnostic> {
        // Never handed to tofu: nothing was created.
        let Some(child) = self.journal.unit(name).and_then(|unit| unit.child) else {
            return Ok(BTreeMap::new());
        };
        Ok(match session.past_apply(child).map_err(|error| cannot_plan(name, &error))? {
            Some(past) if came_to_its_end(&past) => BTreeMap::new(),
            Some(past) => creates_begun(&past.events),
            // Its log is lost: whatever it was to create may have been begun.
            None => {
                self.begun.units[name].agreed.creates().into_iter().map(|address| (address, None)).collect()
            }
        })
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

/// Well or not: it wrote its state before it said so.
fn came_to_its_end(past: &PastApply) -> bool {
    past.applied.is_some() || !past.errors.is_empty()
}

/// What was begun to be created, with its id once it was there.
pub(crate) fn creates_begun(events: &[Event]) -> BTreeMap<String, Option<String>> {
    let mut begun = BTreeMap::new();
    for event in events {
        match event {
            Event::ApplyStart { address, action: Action::Create } => {
                begun.insert(address.clone(), None);
            }
            Event::ApplyComplete { address, action: Action::Create, id, .. } => {
                begun.insert(address.clone(), id.clone());
            }
            _ => {}
        }
    }
    begun
}

/// eos's own resources that tofu would replace because they were left half-made.
pub(crate) fn own_half_made(state: &State) -> Vec<String> {
    let own = state.resources.iter().filter(|resource| is_own(&resource.provider));
    let half_made = own.flat_map(|resource| &resource.instances).filter(|instance| instance.tainted);
    half_made.map(|instance| instance.address.clone()).collect()
}

/// Creating it again does nothing twice: eos's own resources find what is theirs, and `terraform_data` is nothing but an
/// entry in the state, unless it runs a command.
pub(crate) fn is_harmless(unit: &Unit, address: &str) -> bool {
    let address = without_keys(address);
    let kind_and_name = address.rsplit('.').take(2).collect::<Vec<_>>();
    let [name, kind] = kind_and_name[..] else { return false };
    if kind.starts_with("eos_") {
        return true;
    }
    let main = unit.main();
    kind == "terraform_data"
        && !address.starts_with("module.")
        && main
            .pointer(&format!("/resource/{kind}/{name}"))
            .is_some_and(|body| body.get("provisioner").is_none())
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
