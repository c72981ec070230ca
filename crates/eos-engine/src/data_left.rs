//! Which data a run has made, for whoever takes it back: a unit that was cut off before its volumes were made leaves none.
//!
//! What cannot be known counts as made.

use std::collections::{BTreeMap, BTreeSet};

use eos_model::{Diagnostic, Name};
use eos_tofu::{Children, Session};

use crate::agreed::without_keys;
use crate::data;
use crate::engine::Engine;
use crate::record::Goal;
use crate::run_id::RunId;
use crate::run_state::{Run, UnitState};
use crate::runs;
use crate::treatment::Treatment;
use crate::unrecorded::creates_begun;

impl Engine<'_> {
    /// The units of a run that leave no data behind when the run is taken back: it was not made, and none was there before.
    pub fn without_data(&self, run: &RunId) -> Result<BTreeSet<Name>, Diagnostic> {
        let run = runs::find(self.layout, run)?.run;
        let leaves_none = |name: &Name| {
            let made = self.archive().read(&self.id(&run.begun.env, name), &run.begun.units[name].digest);
            made.is_ok_and(|made| {
                let addresses: Vec<String> = data::data_resources(&made.files).into_keys().collect();
                let is_known = data::opaque_modules(&made.files).is_empty();
                is_known && !addresses.is_empty() && self.data_left(&run, name, &addresses).is_empty()
            })
        };
        Ok(run.begun.units.keys().filter(|name| leaves_none(name)).cloned().collect())
    }

    /// Those of these resources of a unit that are there, or may be.
    pub(crate) fn data_left(&self, run: &Run, name: &Name, addresses: &[String]) -> BTreeSet<String> {
        let all = || addresses.iter().cloned().collect::<BTreeSet<_>>();
        let intended = &run.begun.units[name];
        let Some(unit) = run.units.get(name) else { return all() };
        if addresses.is_empty() || matches!(unit.state, UnitState::Done | UnitState::Verifying) {
            return all();
        }
        let Ok(kept) = self.applied().kept(&run.begun.env) else { return all() };
        let mut left: BTreeSet<String> = intended.treatment.adopt.keys().map(|a| without_keys(a)).collect();
        left.extend(addresses.iter().filter(|a| kept.get(name).is_some_and(|kept| kept.has(a))).cloned());
        // Without a child it was never handed to tofu.
        if unit.child.is_some() {
            match self.made_by_tofu(run, name) {
                Some(made) => left.extend(made),
                None => return all(),
            }
        }
        all().intersection(&left).cloned().collect()
    }

    /// What tofu has in its state, or began to make when it was cut off. None where that cannot be known.
    fn made_by_tofu(&self, run: &Run, name: &Name) -> Option<BTreeSet<String>> {
        let intended = &run.begun.units[name];
        let child = run.units.get(name)?.child?;
        if child.still_running() {
            return None;
        }
        let id = self.id(&run.begun.env, name);
        let unit = self.archive().read(&id, &intended.digest).ok()?;
        let desk = self.desk(&unit, Goal::Gone, &Treatment::default(), &BTreeMap::new()).ok()?;
        // Reading is allowed to a run that was told to stop.
        let session = Session { children: Children::new(), ..desk.session.clone() };
        let past = session.past_apply(child).ok()?.filter(|past| !past.cut_off)?;
        let begun = creates_begun(&past.events).into_keys();
        let state = session.state().ok()?;
        let known = state.instances().map(|instance| instance.address.clone());
        Some(begun.chain(known).map(|address| without_keys(&address)).collect())
    }
}
