//! What a run may have made of a unit that no state tells of. This is decided here alone, for whoever asks: a run that fails
//! or is gone on with, one that is taken back, one that comes after it.
//!
//! What a run does is known from its journal, the log of its tofu, and the state that tofu left where its backend did not
//! take it. Of a run of another clone, or one that was overtaken, there is none of these: [`crate::left_elsewhere`].

use std::collections::BTreeMap;

use eos_model::{Diagnostic, EnvName, Name, codes};
use eos_tofu::{Action, Children, Event, PastApply, Session, State, StateInstance, UnsavedState};

use crate::agreed::without_keys;
use crate::engine::Engine;
use crate::guard;
use crate::one_unit::Conduct;
use crate::problems::cannot_plan;
use crate::record::Begun;
use crate::runs;
use crate::unit::Unit;

/// What a tofu that ended, however it ended, left of a unit.
pub(crate) enum Left {
    /// Its state tells of all that it made.
    InOrder,
    /// Its backend has not taken its state yet.
    StateToPush,
    /// These may exist, and no state tells of them: a person has to look.
    MayExist(Vec<String>),
}

impl Conduct<'_> {
    /// `unit` is what that tofu applied.
    pub fn left(&self, name: &Name, session: &Session, unit: &Unit) -> Result<Left, Diagnostic> {
        if session.folder.unsaved_state().is_some_and(|unsaved| unsaved.is_whole) {
            return Ok(Left::StateToPush);
        }
        let may_exist = self.may_exist(name, session, unit)?;
        Ok(if may_exist.is_empty() { Left::InOrder } else { Left::MayExist(may_exist) })
    }

    /// Objects that tofu created or was creating and that its state does not know: it writes that at the end and every now
    /// and then, not with each object.
    pub fn may_exist(&self, name: &Name, session: &Session, unit: &Unit) -> Result<Vec<String>, Diagnostic> {
        let mut begun = self.creates_begun(name, session)?;
        begun.retain(|address, _| !is_harmless(unit, address));
        if begun.is_empty() {
            return Ok(Vec::new());
        }
        // Reading is allowed to a run that was told to stop.
        let reading = Session { children: Children::new(), ..session.clone() };
        let state = reading.state().map_err(|error| cannot_plan(name, &error))?;
        begun.retain(|address, id| !is_recorded(&state, address, id.as_deref()));
        Ok(told(begun, self.past_apply(name, session)?.as_ref()))
    }

    /// The same where the state cannot be read, which is told first: all that was begun.
    pub fn unknown(&self, name: &Name, session: &Session, unit: &Unit, why: &Diagnostic) -> Vec<String> {
        let mut begun = self.creates_begun(name, session).unwrap_or_default();
        begun.retain(|address, _| !is_harmless(unit, address));
        let mut reasons = vec![format!("what is in its state cannot be told: {}", why.message)];
        reasons.extend(told(begun, self.past_apply(name, session).ok().flatten().as_ref()));
        reasons
    }

    /// What a tofu had begun to create whose state does not tell of it, with its id once it was there.
    pub fn creates_begun(
        &self,
        name: &Name,
        session: &Session,
    ) -> Result<BTreeMap<String, Option<String>>, Diagnostic> {
        // Never handed to tofu: nothing was created.
        if self.journal.unit(name).is_none_or(|unit| unit.child.is_none()) {
            return Ok(BTreeMap::new());
        }
        let past = self.past_apply(name, session)?;
        if past.as_ref().is_some_and(PastApply::saved_its_state) {
            return Ok(BTreeMap::new());
        }
        let mut begun = BTreeMap::new();
        if past.as_ref().is_none_or(|past| past.cut_off) {
            // Its log is lost, or a part of it: whatever it was to create may have been begun.
            begun.extend(self.begun.units[name].agreed.creates().into_iter().map(|address| (address, None)));
        }
        begun.extend(past.map(|past| creates_begun(&past.events)).unwrap_or_default());
        Ok(begun)
    }

    /// What the log of the last tofu that was let at a unit tells; none when it is lost.
    pub fn past_apply(&self, name: &Name, session: &Session) -> Result<Option<PastApply>, Diagnostic> {
        let Some(child) = self.journal.unit(name).and_then(|unit| unit.child) else { return Ok(None) };
        session.past_apply(child).map_err(|error| cannot_plan(name, &error))
    }
}

impl Engine<'_> {
    /// A later run has changed the unit: a state that this one's tofu could not save is nobody's to push any more. Gives
    /// where such states are then, as a person in the estate writes it.
    pub(crate) fn put_unsaved_states_aside(&self, begun: &Begun) -> Result<Vec<String>, Diagnostic> {
        let mut aside = Vec::new();
        for name in begun.units.keys() {
            let put = self.tools.places.put_unsaved_state_aside(&self.id(&begun.env, name));
            let put = put.map_err(|error| Diagnostic::error(codes::CANNOT_WRITE, error.to_string()))?;
            aside.extend(put.map(|file| guard::shown(self.layout, &file).to_string()));
        }
        Ok(aside)
    }

    /// Why a unit cannot be planned whose state waits to be pushed.
    pub(crate) fn state_waits(&self, env: &EnvName, name: &Name, unsaved: &UnsavedState) -> Diagnostic {
        let file = guard::shown(self.layout, &unsaved.file);
        let message = format!("{name}: its last state could not be written to the backend; it is in {file}");
        let found = Diagnostic::error(codes::RUN_UNFINISHED, message)
            .why("without it tofu does not know what is there");
        let is_its = |run: &crate::run_state::Run| {
            run.begun.env == *env && run.half_done().any(|(half, _)| half == name)
        };
        let waits = runs::open(self.layout).map(|(open, _)| open.iter().any(|known| is_its(&known.run)));
        match waits {
            Ok(false) => found.fix(format!(
                "no run is left that would write it: look whether what it made is there, then move {file} away"
            )),
            _ => found.fix("eos resume writes it once the backend answers"),
        }
    }
}

/// Only an object with the very id is the one that was made: under the same address there may be the one it was to replace.
fn is_recorded(state: &State, address: &str, id: Option<&str>) -> bool {
    let is_it = |instance: &StateInstance| instance.address == address && instance.id.as_deref() == id;
    id.is_some() && state.instances().any(is_it)
}

fn told(begun: BTreeMap<String, Option<String>>, past: Option<&PastApply>) -> Vec<String> {
    let (because, when) = match past {
        Some(past) if past.came_to_its_end() => {
            ("because tofu could not save it", "by a tofu that could not save its state")
        }
        Some(past) if past.cut_off => ("because tofu was cut off", "when tofu was cut off"),
        _ => ("because tofu was killed", "when tofu was killed"),
    };
    let tell = |(address, id): (String, Option<String>)| match id {
        Some(id) => format!("{address} was created (id {id}) and is not in tofu's state, {because}"),
        None => format!("{address} was being created {when} and may exist unrecorded"),
    };
    begun.into_iter().map(tell).collect()
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
